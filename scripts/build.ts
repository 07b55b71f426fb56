import { createHash } from "node:crypto";
import { chmod, cp, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { bundleProgram } from "./bundle.ts";
import { readCommit } from "./commit.ts";

// dist/
//   main.js        names the current build and starts it; replacing this one file is what switches builds
//   build.json     what was built from what; its time is the start of the build, for the launchers
//   <id>/          one build: app.js, its lazy chunks, runtime/ (the Python package), skills/
// Older builds stay for two days, because running processes still load lazy chunks and the runtime from them.

const root = resolve(import.meta.dirname, "..");
const keptMs = 2 * 24 * 3600 * 1000;
const keptCount = 20;

/** Folders that a build carries along, from the root, when they exist. */
const carried: Record<string, [from: string, to: string][]> = {
	"prime-agent": [
		["prime-agent-runtime/src", "runtime"],
		["packages/prime-agent/skills", "skills"],
	],
	agent: [],
	panes: [["packages/panes/skills", "skills"]],
};

/** Lazy entries that are loaded together on a start that people wait for, by the file that they go into. */
const together: Record<string, Record<string, string[]>> = {
	"prime-agent": {
		front: inSource("prime-agent", "cli/faults.ts", "cli/command-line.ts", "cli/piped-input.ts", "cli/help.ts"),
		run: inSource("prime-agent", "cli/run-command.ts", "program.ts"),
		openai: ["node_modules/@earendil-works/pi-ai/dist/api/openai-completions.js"],
	},
	agent: { front: inSource("agent", "main.ts") },
	panes: { front: inSource("panes", "main.ts", "cli/help.ts") },
};

const names = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(carried);
try {
	for (const name of names) await buildPackage(name);
} catch (error) {
	// What esbuild found in the sources, it has already shown with the lines around it.
	if (!(error instanceof Error && "errors" in error)) throw error;
	process.exitCode = 1;
}

async function buildPackage(name: string): Promise<void> {
	const folder = join(root, "packages", name);
	const entry = join(folder, "src/main.ts");
	if (!(await exists(entry))) {
		console.error(`packages/${name}/src/main.ts is not there, nothing to build`);
		if (process.argv.length > 2) process.exitCode = 1;
		return;
	}
	const started = new Date();
	const dist = join(folder, "dist");
	await mkdir(dist, { recursive: true });
	const work = await mkdtemp(join(dist, ".new-"));
	try {
		const gone = await bundleProgram({ app: `packages/${name}/src/main.ts` }, work, together[name]);
		for (const source of gone) console.warn(`${source} is no lazy entry of the bundle, see scripts/build.ts`);
		for (const [from, to] of carried[name] ?? []) {
			if (await exists(join(root, from)))
				await cp(join(root, from), join(work, to), { recursive: true, filter: isSource });
		}
		const id = await hashFolder(work);
		await chmod(work, 0o755);
		if (!(await exists(join(dist, id)))) await rename(work, join(dist, id));
		await utimes(join(dist, id), started, started);
		const { version } = JSON.parse(await readFile(join(folder, "package.json"), "utf8")) as { version: string };
		const stamp = `${JSON.stringify({ version, id, commit: await readCommit(root) })}\n`;
		await replace(join(dist, "build.json"), stamp, 0o644, started);
		await replace(join(dist, "main.js"), entryText(id), 0o755, started);
		await removeOld(dist, id, started.getTime());
		console.log(`packages/${name}/dist: build ${id}`);
	} finally {
		await rm(work, { recursive: true, force: true });
	}
}

function inSource(name: string, ...paths: string[]): string[] {
	return paths.map((path) => `packages/${name}/src/${path}`);
}

/** The compile cache lies in the build: a shared folder for temporary files could be written by others. */
function entryText(id: string): string {
	return `#!/usr/bin/env node
process.getBuiltinModule("node:module").enableCompileCache(import.meta.dirname + "/${id}/.cache");
await import("./${id}/app.js");
`;
}

function isSource(path: string): boolean {
	return !/(__pycache__|\.pyc|\.egg-info)$/.test(path);
}

async function hashFolder(folder: string): Promise<string> {
	const hash = createHash("sha256");
	const files = await readdir(folder, { recursive: true, withFileTypes: true });
	const paths = files.filter((file) => file.isFile()).map((file) => join(file.parentPath, file.name));
	for (const path of paths.sort()) hash.update(path.slice(folder.length)).update(await readFile(path));
	return hash.digest("hex").slice(0, 12);
}

async function replace(path: string, text: string, mode: number, time: Date): Promise<void> {
	const next = `${path}.${process.pid}`;
	await writeFile(next, text, { mode });
	await utimes(next, time, time);
	await rename(next, path);
}

async function removeOld(dist: string, current: string, now: number): Promise<void> {
	const entries = await readdir(dist, { withFileTypes: true });
	const builds = entries.filter((entry) => entry.isDirectory() && /^([0-9a-f]{12}|\.new-.*)$/.test(entry.name));
	const dated = await Promise.all(
		builds.map(async ({ name }) => ({ name, time: (await stat(join(dist, name))).mtimeMs })),
	);
	const old = dated.filter(({ name }) => name !== current).sort((a, b) => b.time - a.time);
	for (const [index, { name, time }] of old.entries()) {
		if (index >= keptCount || now - time > keptMs) await rm(join(dist, name), { recursive: true, force: true });
	}
}

async function exists(path: string): Promise<boolean> {
	return stat(path).then(
		() => true,
		() => false,
	);
}
