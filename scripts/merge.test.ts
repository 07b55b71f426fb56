import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runProcess } from "@prime-agent/testkit";
import { build } from "esbuild";
import { afterEach, beforeEach, expect, it } from "vitest";
import { mergeChunks } from "./merge.ts";

const sources: Record<string, string> = {
	"main.ts": `if (process.argv.includes("--quick")) { console.log("quick"); process.exit(0); }
		const { Fault, one } = await import("./one.ts");
		const { two } = await import("./two.ts");
		const { late, fault, again } = await import("./late.ts");
		console.log(JSON.stringify([one(), two(), late, fault instanceof Fault, again === one, (await import("./two.ts")).default]));`,
	"one.ts": `import { shared } from "./shared.ts"; export { Fault } from "./fault.ts";
		export const one = () => "one " + shared();`,
	"two.ts": `import { shared } from "./shared.ts"; export default "default"; export const two = () => "two " + shared();`,
	"late.ts": `import { Fault } from "./fault.ts"; import { shared } from "./shared.ts"; export { one as again } from "./one.ts";
		export const late = "late " + shared(); export const fault = new Fault();`,
	"shared.ts": `let count = 0; export const shared = () => { count += 1; return count; };`,
	"fault.ts": `export class Fault extends Error {}`,
};
const options = { platform: "node", target: "node22.19", minifySyntax: true, minifyWhitespace: true } as const;
let folder = "";

beforeEach(async () => {
	folder = await mkdtemp(join(tmpdir(), "merge-"));
	await mkdir(join(folder, "src"));
	await writeFile(join(folder, "package.json"), '{ "type": "module" }');
	for (const [name, text] of Object.entries(sources)) await writeFile(join(folder, "src", name), text);
});

afterEach(() => rm(folder, { recursive: true, force: true }));

async function bundle() {
	const entryPoints = { app: "src/main.ts" };
	const outdir = join(folder, "out");
	const common = { bundle: true, splitting: true, format: "esm", metafile: true } as const;
	return (await build({ ...options, ...common, absWorkingDir: folder, entryPoints, outdir })).metafile;
}

async function runBundle(...more: string[]) {
	const loaded = `const loaded = []; require("node:module").registerHooks({ load(url, context, next) {
		if (url.includes("/out/")) loaded.push(url.replace(/^.*\\/out\\//, "")); return next(url, context); } });
		process.on("exit", () => console.log(loaded.join(" ")));`;
	await writeFile(join(folder, "loaded.cjs"), loaded);
	const args = ["--require", join(folder, "loaded.cjs"), join(folder, "out/app.js"), ...more];
	const { stdout, stderr } = await runProcess(process.execPath, args);
	const [said, files] = stdout.trim().split("\n");
	return { said, stderr, files: files?.split(" ") ?? [] };
}

it("mergeChunks keeps what the bundle does, with each module there once, and loads the group as one file", async () => {
	const metafile = await bundle();
	const before = await runBundle();
	expect(before.said).toBe('["one 2","two 3","late 1",true,true,"default"]');
	const gone = await mergeChunks(join(folder, "out"), metafile, { front: ["src/one.ts", "src/two.ts"] }, options);
	const after = await runBundle();
	expect(gone).toEqual([]);
	expect(after).toMatchObject({ said: before.said, stderr: "" });
	expect(after.files.slice(0, 2)).toEqual(["app.js", "front.js"]);
	expect(before.files.length).toBeGreaterThan(after.files.indexOf("front.js") + 2);
});

it("mergeChunks lets a later group take what it shares with an earlier one from there", async () => {
	const metafile = await bundle();
	const groups = { front: ["src/one.ts"], run: ["src/two.ts", "src/late.ts"] };
	await mergeChunks(join(folder, "out"), metafile, groups, options);
	const { said, files } = await runBundle();
	expect(said).toBe('["one 2","two 3","late 1",true,true,"default"]');
	expect([...files].sort()).toEqual(["app.js", "front.js", "run.js"]);
	expect(await readFile(join(folder, "out/run.js"), "utf8")).toContain('from"./front.js"');
});

it("mergeChunks takes what the first file imports into a group, and leaves the first file alone", async () => {
	const text = `import { one } from "./one.ts"; const { again } = await import("./late.ts"); console.log(again === one, one());`;
	await writeFile(join(folder, "src/main.ts"), text);
	const metafile = await bundle();
	await mergeChunks(join(folder, "out"), metafile, { front: ["src/main.ts"] }, options);
	const { said, files } = await runBundle();
	expect(said).toBe("true one 2");
	expect(files.slice(0, 2)).toEqual(["app.js", "front.js"]);
});

it("mergeChunks names sources that are no lazy entries of the bundle", async () => {
	const metafile = await bundle();
	const groups = { front: ["src/gone.ts", "src/shared.ts", "src/one.ts"] };
	expect(await mergeChunks(join(folder, "out"), metafile, groups, options)).toEqual(["src/gone.ts", "src/shared.ts"]);
});

it("mergeChunks leaves a start that needs no lazy entry without any", async () => {
	const metafile = await bundle();
	await mergeChunks(join(folder, "out"), metafile, { front: ["src/one.ts", "src/two.ts"] }, options);
	expect(await runBundle("--quick")).toMatchObject({ said: "quick", files: ["app.js"] });
});
