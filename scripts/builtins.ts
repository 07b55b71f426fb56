import { isBuiltin } from "node:module";
import { init, parse } from "es-module-lexer";

const form = /^import\s*(?:([\w$]+)\s*,?\s*)?(?:\*\s*as\s+([\w$]+)\s*)?(?:\{([^}]*)\}\s*)?from\s*["']/;

/**
 * Rewrites the static imports of Node's own modules in a module's text so that they are taken by
 * `process.getBuiltinModule`. An import statement reads every property of such a module, and with it loads what the
 * lazy ones stand for: `node:util` brings the whole of stderr, `node:fs` the promises.
 */
export async function takeBuiltinsLazily(text: string): Promise<string> {
	await init;
	let taken = "";
	let rest = "";
	let end = 0;
	for (const { n: name, d: dynamic, ss, se } of parse(text)[0]) {
		if (dynamic !== -1 || name === undefined || !isBuiltin(name)) continue;
		const match = form.exec(text.slice(ss, se));
		if (!match) continue;
		const [, whole, star, named] = match;
		const module = `process.getBuiltinModule(${JSON.stringify(name)})`;
		for (const binding of [whole, star]) if (binding) taken += `const ${binding}=${module};`;
		if (named) taken += `const{${named.replaceAll(/\s+as\s+/g, ":")}}=${module};`;
		rest += text.slice(end, ss);
		end = se;
	}
	rest += text.slice(end);
	const firstLine = /^#!.*\n/.exec(rest)?.[0] ?? "";
	return firstLine + taken + rest.slice(firstLine.length);
}
