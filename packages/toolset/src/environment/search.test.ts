import { chmod, symlink, utimes } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { makeFolder, type TestFolder } from "../testing/folder.ts";
import type { GrepRequest } from "./environment.ts";
import { LocalEnvironment } from "./local.ts";

const tree = {
	".gitignore": "*.log\n/build/\n!keep.log\n",
	"a.ts": "const one = 1;\nconst ONE = 2;\n-x dash\n",
	"b.txt": "one\r\ntwo one\r\nONE\r\n",
	"sub/c.ts": "one\n",
	"sub/.gitignore": "c.txt\n",
	"sub/c.txt": "one ignored\n",
	"sub/deep/d.ts": "nothing\none more\n",
	"skip.log": "one in a log\n",
	"keep.log": "one in a kept log\n",
	"build/out.ts": "one built\n",
	"src/build/in.ts": "one in src\n",
	".hidden/e.ts": "one hidden\n",
	"node_modules/m/f.ts": "one module\n",
	"binary.dat": Buffer.from([0x6f, 0x6e, 0x65, 0, 0x6f, 0x6e, 0x65]),
	"latin.txt": Buffer.from("one caf\xe9\n", "latin1"),
	"bom.txt": "\ufeffone with a mark\n",
	"wide.txt": Buffer.from("\ufeffone wide\n", "utf16le"),
	"long.txt": `one ${"y".repeat(5000)}\n`,
	"last.txt": "one without an end",
};

const engines = ["auto", "built-in"] as const;

function makeEnvironment(folder: TestFolder, search: "auto" | "built-in") {
	return new LocalEnvironment({ workingDirectory: folder.path, variables: {}, search });
}

async function grepRows(folder: TestFolder, search: "auto" | "built-in", request: Partial<GrepRequest>) {
	const { rows, capped } = await makeEnvironment(folder, search).grep({
		pattern: "one",
		path: folder.path,
		mode: "lines",
		maxResults: 1000,
		...request,
	});
	const shown = rows.map(({ path, ...row }) => ({ path: path.slice(folder.path.length + 1), ...row }));
	return { rows: shown, capped };
}

describe("ripgrep and the built-in search", () => {
	const requests: [string, Partial<GrepRequest>][] = [
		["a plain pattern", {}],
		["without regard to case", { ignoreCase: true }],
		["inline flags", { pattern: "(?i)^one$" }],
		["a pattern that begins with a dash", { pattern: "-x" }],
		["a filter on names", { globFilter: "*.ts" }],
		["a filter on paths", { globFilter: "sub/**/*.ts" }],
		["a negated filter", { globFilter: "!*.{ts,txt}" }],
		["a limit over all files", { maxResults: 4 }],
		["names only", { mode: "files" }],
		["counts", { mode: "counts", ignoreCase: true }],
		["end of line in a file with CRLF", { pattern: "one$" }],
		["no match", { pattern: "nowhere to be found" }],
	];
	test.each(requests)("give the same rows for %s", async (_name, request) => {
		await using folder = await makeFolder();
		await folder.write(tree);
		const expected = await grepRows(folder, "auto", request);
		expect(await grepRows(folder, "built-in", request)).toEqual(expected);
	});

	test.each(["b.txt", "sub", "build", "sub/c.txt", "node_modules/m"])("give the same rows below %s", async (path) => {
		await using folder = await makeFolder();
		await folder.write(tree);
		const request = { path: join(folder.path, path) };
		const expected = await grepRows(folder, "auto", request);
		expect(expected.rows.length).toBeGreaterThan(0);
		expect(await grepRows(folder, "built-in", request)).toEqual(expected);
	});

	test("do not look above the root of the repository for rules", async () => {
		await using folder = await makeFolder();
		await folder.write({
			".gitignore": "*.ts\n",
			"repo/.git/HEAD": "",
			"repo/.gitignore": "*.txt\n",
			"repo/sub/a.ts": "one\n",
			"repo/sub/a.txt": "one\n",
			"repo/sub/inner/.git/HEAD": "",
			"repo/sub/inner/b.txt": "one\n",
		});
		const request = { path: join(folder.path, "repo/sub") };
		for (const engine of engines) {
			const { rows } = await grepRows(folder, engine, request);
			expect(rows.map((row) => row.path)).toEqual(["repo/sub/a.ts", "repo/sub/inner/b.txt"]);
		}
	});

	test.each(engines)("find what is expected (%s)", async (engine) => {
		await using folder = await makeFolder();
		await folder.write(tree);
		const { rows } = await grepRows(folder, engine, { mode: "files" });
		expect(rows.map((row) => row.path)).toEqual([
			"a.ts",
			"b.txt",
			"bom.txt",
			"keep.log",
			"last.txt",
			"latin.txt",
			"long.txt",
			"src/build/in.ts",
			"sub/c.ts",
			"sub/deep/d.ts",
			"wide.txt",
		]);
	});

	test.each(engines)("stop at the limit and say so (%s)", async (engine) => {
		await using folder = await makeFolder();
		await folder.write(tree);
		const { rows, capped } = await grepRows(folder, engine, { maxResults: 3 });
		expect([rows.length, capped]).toEqual([3, true]);
	});

	test.each(engines)("refuse a pattern that cannot be read (%s)", async (engine) => {
		await using folder = await makeFolder();
		await folder.write(tree);
		await expect(grepRows(folder, engine, { pattern: "(one" })).rejects.toMatchObject({ code: "bad_pattern" });
	});

	test.each(engines)("refuse a path that does not exist (%s)", async (engine) => {
		await using folder = await makeFolder();
		const request = grepRows(folder, engine, { path: join(folder.path, "nowhere") });
		await expect(request).rejects.toMatchObject({ code: "not_found" });
	});

	test.each(engines)("refuse a device, which may never end (%s)", async (engine) => {
		await using folder = await makeFolder();
		await expect(grepRows(folder, engine, { path: "/dev/zero" })).rejects.toThrow("not a regular file");
	});

	test.each(engines)("stop when they are aborted (%s)", async (engine) => {
		await using folder = await makeFolder();
		await folder.write(tree);
		const request = grepRows(folder, engine, { signal: AbortSignal.abort() });
		await expect(request).rejects.toMatchObject({ code: "aborted" });
	});
});

test("the built-in search can be stopped inside a pattern that backtracks for ever", async () => {
	await using folder = await makeFolder();
	await folder.write({ "a.txt": `${"a".repeat(60)}!\n` });
	const abort = new AbortController();
	const search = grepRows(folder, "built-in", { pattern: "^(a+)+$", signal: abort.signal });
	setImmediate(() => abort.abort());
	await expect(search).rejects.toMatchObject({ code: "aborted" });
});

test("the built-in search does not wait for a pipe that has the name of a rule file", async () => {
	await using folder = await makeFolder();
	await folder.write({ "a.txt": "one\n" });
	const environment = new LocalEnvironment({
		workingDirectory: folder.path,
		variables: { PATH: process.env.PATH },
		search: "built-in",
	});
	await environment.execCommand({ command: "mkfifo .gitignore", timeoutMs: 60_000 });
	const { rows } = await environment.grep({ pattern: "one", path: folder.path, mode: "lines", maxResults: 10 });
	expect(rows.map(({ text }) => text)).toEqual(["one"]);
});

test("files are listed newest first and by name among equals", async () => {
	await using folder = await makeFolder();
	await folder.write({ "old.ts": "", "new.ts": "", "b.ts": "", "a.ts": "", "sub/x.ts": "", "x.js": "" });
	const age = async (name: string, seconds: number) => utimes(join(folder.path, name), seconds, seconds);
	await Promise.all([age("old.ts", 1000), age("new.ts", 9000), age("a.ts", 5000), age("b.ts", 5000)]);
	await age("sub/x.ts", 7000);
	const list = (pattern: string) =>
		makeEnvironment(folder, "built-in")
			.glob({ pattern, path: folder.path })
			.then((paths) => paths.map((path) => path.slice(folder.path.length + 1)));
	expect(await list("**/*.ts")).toEqual(["new.ts", "sub/x.ts", "a.ts", "b.ts", "old.ts"]);
	expect(await list("*.{js,ts}")).toHaveLength(5);
	expect(await list("sub/*.ts")).toEqual(["sub/x.ts"]);
	expect(await list(`${folder.path}/s?b/[a-x].ts`)).toEqual(["sub/x.ts"]);
	expect(await list("nowhere/*")).toEqual([]);
	await expect(list("[a")).rejects.toMatchObject({ code: "bad_pattern" });
});

test("hidden entries, repositories and modules are listed only when the pattern names them", async () => {
	await using folder = await makeFolder();
	await folder.write({ ".env": "", ".git/config": "", "node_modules/m/i.js": "", ".ci/run": "", "a.js": "" });
	await symlink("a.js", join(folder.path, "link.js"));
	const list = (pattern: string) =>
		makeEnvironment(folder, "built-in")
			.glob({ pattern, path: folder.path })
			.then((paths) => paths.map((path) => path.slice(folder.path.length + 1)).sort());
	expect(await list("**/*")).toEqual(["a.js", "link.js"]);
	expect(await list(".*")).toEqual([".env"]);
	expect(await list("**/.ci/*")).toEqual([".ci/run"]);
	expect(await list("node_modules/**")).toEqual(["node_modules/m/i.js"]);
	expect(await list(".git/*")).toEqual([".git/config"]);
});

// Root may read everything.
test.skipIf(process.getuid?.() === 0)("a folder that may not be read hides only its own files", async () => {
	await using folder = await makeFolder();
	await folder.write({ "closed/a.ts": "", "b.ts": "" });
	await chmod(join(folder.path, "closed"), 0);
	const found = await makeEnvironment(folder, "built-in").glob({ pattern: "**/*.ts", path: folder.path });
	expect(found).toEqual([join(folder.path, "b.ts")]);
});
