import { readdir, readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { build } from "esbuild";
import { takeBuiltinsLazily } from "./builtins.ts";
import { giveLightFetch } from "./light-fetch.ts";
import { type MergeOptions, mergeChunks } from "./merge.ts";
import { leaveOutUnusedResources } from "./unused.ts";

const root = resolve(import.meta.dirname, "..");

/** Libraries that stay in node_modules: each finds a file of its own beside its source. */
const external = ["@vscode/ripgrep"];

const requireLine = 'const require=process.getBuiltinModule("node:module").createRequire(import.meta.url);';

const target: MergeOptions = {
	platform: "node",
	target: "node22.19",
	minifySyntax: true,
	minifyWhitespace: true,
};

/**
 * Bundles programs, given by the names of their files, into one folder, with lazy entries in files of their own or
 * `together` in named ones. Returns the entries of `together` that are none.
 */
export async function bundleProgram(
	entryPoints: Record<string, string>,
	outdir: string,
	together: Record<string, string[]> = {},
): Promise<readonly string[]> {
	const { metafile } = await build({
		...target,
		absWorkingDir: root,
		entryPoints,
		outdir,
		bundle: true,
		splitting: true,
		format: "esm",
		external,
		metafile: true,
		plugins: [leaveOutUnusedResources, giveLightFetch],
		legalComments: "linked",
		logLevel: "warning",
	});
	const gone = await mergeChunks(outdir, metafile, together, target);
	for (const file of await readdir(outdir)) {
		if (file.endsWith(".js")) await finish(join(outdir, file));
	}
	return gone;
}

/** Bundled CommonJS modules call `require` for Node's own modules, which a module does not have by itself. */
async function finish(path: string): Promise<void> {
	const text = await takeBuiltinsLazily(await readFile(path, "utf8"));
	const needsRequire = /typeof require\b/.test(text);
	await writeFile(path, needsRequire ? text.replace(/^(#!.*\n)?/, `$1${requireLine}\n`) : text);
}
