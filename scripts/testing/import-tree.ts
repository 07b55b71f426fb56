import { execFile } from "node:child_process";
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";

/** One reported violation: the rule's name, the importing file and what it imports. */
export interface Violation {
	rule: string;
	from: string;
	to: string;
}

const root = resolve(import.meta.dirname, "../..");
const packageNames = ["loop", "toolset", "agent", "panes", "testkit"];
const libraries = ["@earendil-works/pi-ai", "@earendil-works/pi-tui", "zod", "@whatwg-node/node-fetch"];

/** Runs the repository's dependency rules over a tree of the given files (path → source) in a temporary folder. */
export async function checkImports(files: Map<string, string>): Promise<Violation[]> {
	const folder = await realpath(await mkdtemp(join(tmpdir(), "rules-")));
	try {
		for (const [path, text] of [...files, ...manifests()]) {
			await mkdir(dirname(join(folder, path)), { recursive: true });
			await writeFile(join(folder, path), text);
		}
		await mkdir(join(folder, "node_modules/@prime-agent"), { recursive: true });
		for (const name of packageNames) {
			await symlink(join(folder, "packages", name), join(folder, "node_modules/@prime-agent", name));
		}
		return await cruise(folder);
	} finally {
		await rm(folder, { recursive: true, force: true });
	}
}

/** The import specifier that leads from one file of the tree to another file, package or library. */
export function specifier(from: string, to: string): string {
	if (!to.startsWith("packages/")) return to;
	const path = relative(dirname(from), to);
	return path.startsWith(".") ? path : `./${path}`;
}

function manifests(): Map<string, string> {
	const files = new Map([["tsconfig.json", JSON.stringify({ compilerOptions: { module: "nodenext" } })]]);
	const exports = { ".": "./src/index.ts" };
	for (const name of packageNames) {
		files.set(
			`packages/${name}/package.json`,
			JSON.stringify({ name: `@prime-agent/${name}`, type: "module", exports }),
		);
		files.set(`packages/${name}/src/index.ts`, "export type Leaf = 1;\nexport const leaf = 1;\n");
	}
	for (const name of libraries) {
		const manifest = { name, version: "1.0.0", type: "module", exports: { ".": "./index.js" } };
		files.set(`node_modules/${name}/package.json`, JSON.stringify(manifest));
		files.set(`node_modules/${name}/index.js`, "export const leaf = 1;\n");
	}
	files.set("package.json", JSON.stringify({ name: "tree", type: "module", workspaces: ["packages/*"] }));
	return files;
}

function cruise(folder: string): Promise<Violation[]> {
	const program = join(root, "node_modules/dependency-cruiser/bin/dependency-cruiser.mjs");
	const config = join(root, ".dependency-cruiser.cjs");
	const args = [program, "packages", "e2e", "--config", config, "--output-type", "json"];
	return new Promise((done, fail) => {
		execFile(process.execPath, args, { cwd: folder, maxBuffer: 1 << 28 }, (_error, stdout, stderr) => {
			// The exit code counts violations, so only an answer that is no JSON is a failure.
			try {
				const report = JSON.parse(stdout) as { summary: { violations: Reported[] } };
				done(report.summary.violations.map(({ rule, from, to }) => ({ rule: rule.name, from, to })));
			} catch (error) {
				fail(new Error(`dependency-cruiser gave no report: ${stderr}`, { cause: error }));
			}
		});
	});
}

interface Reported {
	rule: { name: string };
	from: string;
	to: string;
}
