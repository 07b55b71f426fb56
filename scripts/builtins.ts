import { isBuiltin } from "node:module";
import { init, parse } from "es-module-lexer";

const form = /^import\s*(?:([\w$]+)\s*,?\s*)?(?:\*\s*as\s+([\w$]+)\s*)?(?:\{([^}]*)\}\s*)?from\s*["']/;

/**
 * Modules that Node.js has not loaded when a program starts, and that take it milliseconds. Of the first ones every
 * function may be passed on like any other; of the others some are looked at (`promisify(execFile)`) or are classes.
 */
const plain = new Set(["node:fs/promises", "node:timers/promises"]);
const heavy = new Set([...plain, "node:child_process", "node:crypto", "node:https", "node:zlib"]);

/**
 * Rewrites the static imports of Node's own modules in a module's text so that they are taken by
 * `process.getBuiltinModule`. An import statement reads every property of such a module, and with it loads what the
 * lazy ones stand for: `node:util` brings the whole of stderr, `node:fs` the promises. A function of a heavy module is
 * taken when it is called.
 */
export async function takeBuiltinsLazily(text: string): Promise<string> {
	await init;
	const imports: { module: string; whole: string[]; named: string[] }[] = [];
	let rest = "";
	let end = 0;
	for (const { n: name, d: dynamic, ss, se } of parse(text)[0]) {
		if (dynamic !== -1 || name === undefined || !isBuiltin(name)) continue;
		const match = form.exec(text.slice(ss, se));
		if (!match) continue;
		const [, whole, star, named = ""] = match;
		imports.push({
			module: name,
			whole: [whole, star].filter((binding) => binding !== undefined),
			named: split(named),
		});
		rest += text.slice(end, ss);
		end = se;
	}
	rest += text.slice(end);
	const taken = imports.map(({ module, whole, named }) => take(module, whole, named, rest)).join("");
	const firstLine = /^#!.*\n/.exec(rest)?.[0] ?? "";
	return firstLine + taken + rest.slice(firstLine.length);
}

function split(named: string): string[] {
	return named
		.split(",")
		.map((name) => name.trim())
		.filter((name) => name !== "");
}

function take(name: string, whole: string[], named: string[], text: string): string {
	const module = `process.getBuiltinModule(${JSON.stringify(name)})`;
	const now: string[] = [];
	let taken = whole.map((binding) => `const ${binding}=${module};`).join("");
	for (const entry of named) {
		const [imported = entry, local = imported] = entry.split(/\s+as\s+/);
		if (isTakenLate(name, imported, local, text)) taken += `const ${local}=(...a)=>${module}.${imported}(...a);`;
		else now.push(imported === local ? local : `${imported}:${local}`);
	}
	return now.length === 0 ? taken : `${taken}const{${now.join(",")}}=${module};`;
}

function isTakenLate(module: string, imported: string, local: string, text: string): boolean {
	if (!heavy.has(module)) return false;
	return plain.has(module) ? !["constants", "scheduler"].includes(imported) : isOnlyCalled(local, text);
}

function isOnlyCalled(binding: string, text: string): boolean {
	const use = new RegExp(`(new\\s+)?(?<![\\w$.])${binding.replaceAll("$", "\\$")}(?![\\w$])(\\s*\\()?`, "g");
	const uses = [...text.matchAll(use)];
	return uses.length > 0 && uses.every(([, made, called]) => made === undefined && called !== undefined);
}
