import { writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { init, parse } from "es-module-lexer";
import { type BuildOptions, build, type Metafile, type Plugin } from "esbuild";

type Output = Metafile["outputs"][string];

/** How the merged files are written; the same as for the bundle that they come from. */
export type MergeOptions = Pick<BuildOptions, "platform" | "target" | "minifySyntax" | "minifyWhitespace">;

/**
 * Puts chunks that are always loaded together into one file, because each file of a bundle costs about as much as a
 * few thousand lines. A group is a name and the sources of lazy entries: they and all that they import statically
 * go into `<name>.js`; of `main.ts`, which stays a file of its own, what it imports. The merged chunks stay as files of
 * one line, so that all other chunks can import them. Returns the sources that are no lazy entries of the bundle.
 */
export async function mergeChunks(
	folder: string,
	metafile: Metafile,
	groups: Record<string, string[]>,
	options: MergeOptions,
): Promise<string[]> {
	const outputs = new Map(Object.entries(metafile.outputs).map(([path, output]) => [basename(path), output]));
	const entries = new Map([...outputs].map(([file, output]) => [output.entryPoint, file]));
	const home = new Map<string, string>();
	for (const [group, sources] of Object.entries(groups)) {
		for (const source of sources) gather(entries.get(source), group, outputs, home);
	}
	const common: BuildOptions = { ...options, bundle: true, format: "esm", logLevel: "warning", write: false };
	const merged: [string, string][] = [];
	for (const group of new Set(home.values())) {
		const files = [...home].filter(([, other]) => other === group).map(([file]) => file);
		const contents = files.map((file) => exportAll(file, outputs.get(file), `./${file}`, prefixNames)).join("\n");
		merged.push([
			`${group}.js`,
			await redirectLazily(
				await run({
					...common,
					stdin: { contents, resolveDir: folder, sourcefile: `${group}.js` },
					plugins: [keep((file) => home.get(file) === group, home, outputs)],
				}),
				home,
				outputs,
			),
		]);
	}
	// The first file is no lazy entry: what it takes from the groups, it takes from them directly.
	const first = [...outputs].find(([, output]) => isFirst(output))?.[0];
	if (first && merged.length > 0) {
		const plugins = [keep(() => false, home, outputs)];
		const text = await run({ ...common, entryPoints: [join(folder, first)], plugins });
		merged.push([first, await redirectLazily(text, home, outputs)]);
	}
	for (const [file, group] of home) {
		await writeFile(join(folder, file), exportAll(file, outputs.get(file), `./${group}.js`, unprefixNames));
	}
	for (const [file, text] of merged) await writeFile(join(folder, file), text);
	return Object.values(groups)
		.flat()
		.filter((source) => !entries.has(source));
}

function isFirst(output: Output): boolean {
	return output.entryPoint?.endsWith("src/main.ts") ?? false;
}

function gather(
	file: string | undefined,
	group: string,
	outputs: Map<string, Output>,
	home: Map<string, string>,
): void {
	const output = file === undefined ? undefined : outputs.get(file);
	if (file === undefined || !output || home.has(file)) return;
	if (!isFirst(output)) home.set(file, group);
	for (const { path, kind, external } of output.imports) {
		if (kind === "import-statement" && !external) gather(basename(path), group, outputs, home);
	}
}

/** Different chunks export the same short names, so in a group each name carries its chunk's. */
function prefixNames(name: string, file: string): string {
	return `${name} as ${inGroup(name, file)}`;
}

function unprefixNames(name: string, file: string): string {
	return `${inGroup(name, file)} as ${name}`;
}

function inGroup(name: string, file: string): string {
	return `${file.replaceAll(/\W/g, "_")}_${name}`;
}

function exportAll(
	file: string,
	output: Output | undefined,
	from: string,
	rename: (name: string, file: string) => string,
): string {
	const names = output?.exports ?? [];
	if (names.length === 0) return `import ${JSON.stringify(from)};`;
	return `export { ${names.map((name) => rename(name, file)).join(", ")} } from ${JSON.stringify(from)};`;
}

/** Lets a lazy import of a merged chunk load its group, still lazily, and see the chunk's own names. */
async function redirectLazily(text: string, home: Map<string, string>, outputs: Map<string, Output>): Promise<string> {
	await init;
	let redirected = "";
	let end = 0;
	for (const { n: path = "", d: dynamic, ss, se } of parse(text)[0]) {
		const file = basename(path);
		const group = home.get(file);
		if (dynamic === -1 || group === undefined || !path.startsWith("./")) continue;
		const names = outputs.get(file)?.exports ?? [];
		const own = names.map((name) => `${name}: group.${inGroup(name, file)}`).join(", ");
		redirected += `${text.slice(end, ss)}import("./${group}.js").then((group) => ({ ${own} }))`;
		end = se;
	}
	return redirected + text.slice(end);
}

/** Bundles the files that belong inside, takes those of groups from their group, and leaves all others as they are. */
function keep(isInside: (file: string) => boolean, home: Map<string, string>, outputs: Map<string, Output>): Plugin {
	return {
		name: "keep",
		setup(setup) {
			setup.onResolve({ filter: /.*/ }, ({ path, kind, importer }) => {
				const file = basename(path);
				if (kind === "entry-point" || isInside(file)) return undefined;
				if (home.has(file) && path.startsWith("./") && kind !== "dynamic-import")
					return { path: file, namespace: "group" };
				// A chunk without sources holds esbuild's own functions, which do nothing by themselves.
				const from = outputs.get(importer);
				return { path, external: true, sideEffects: from === undefined || Object.keys(from.inputs).length > 0 };
			});
			setup.onLoad({ filter: /.*/, namespace: "group" }, ({ path }) => ({
				contents: exportAll(path, outputs.get(path), `./${home.get(path)}.js`, unprefixNames),
			}));
		},
	};
}

async function run(options: BuildOptions): Promise<string> {
	const result = await build(options);
	return result.outputFiles?.[0]?.text ?? "";
}
