import { join } from "node:path";
import { expect, test } from "vitest";
import type { GlobRequest, GrepRequest } from "../environment/environment.ts";
import { LocalEnvironment } from "../environment/local.ts";
import { makeTools, readResult } from "../testing/tools.ts";
import { createGlobTool, createGrepTool } from "./search.ts";

const files = { "a.ts": "const one = 1;\n", "sub/b.ts": "one\none\n", "c.txt": "one\n" };

test("matches are shown with paths relative to the working directory", async () => {
	await using at = await makeTools(files);
	expect((await at.call("grep", { pattern: "one" })).text).toBe(
		"a.ts:1:const one = 1;\nc.txt:1:one\nsub/b.ts:1:one\nsub/b.ts:2:one",
	);
	expect((await at.call("grep", { pattern: "ONE", case_insensitive: true, path: "sub/b.ts" })).text).toBe(
		"sub/b.ts:1:one\nsub/b.ts:2:one",
	);
});

test("names of files and counts are shown on request", async () => {
	await using at = await makeTools(files);
	const grep = (output_mode: string) => at.call("grep", { pattern: "one", output_mode, glob_filter: "*.ts" });
	expect((await grep("files_with_matches")).text).toBe("a.ts\nsub/b.ts");
	expect((await grep("count")).text).toBe("a.ts:1\nsub/b.ts:2");
});

test("the limit counts lines of all files, and what was left out is said", async () => {
	await using at = await makeTools(files);
	const { text } = await at.call("grep", { pattern: "one", max_results: 3 });
	expect(text.split("\n")).toEqual([
		"a.ts:1:const one = 1;",
		"c.txt:1:one",
		"sub/b.ts:1:one",
		expect.stringContaining("more matches were left out after 3"),
	]);
});

test("no match is told in words, a bad pattern and a bad path are errors", async () => {
	await using at = await makeTools(files);
	expect(await at.call("grep", { pattern: "nothing" })).toMatchObject({
		isError: false,
		text: "No matches for nothing.",
	});
	expect(await at.call("grep", { pattern: "(" })).toMatchObject({ isError: true });
	expect(await at.call("grep", { pattern: "x", path: "nowhere" })).toMatchObject({
		isError: true,
		text: expect.stringContaining("not found"),
	});
});

test("found files are shown one per line, outside of the working directory with their whole path", async () => {
	await using at = await makeTools(files);
	await using other = await makeTools({ "x.md": "" });
	expect((await at.call("glob", { pattern: "**/*.{ts,txt}" })).text.split("\n").sort()).toEqual([
		"a.ts",
		"c.txt",
		"sub/b.ts",
	]);
	expect((await at.call("glob", { pattern: `${other.folder.path}/*.md` })).text).toBe(join(other.folder.path, "x.md"));
	expect(await at.call("glob", { pattern: "*.none" })).toMatchObject({
		isError: false,
		text: "No files match *.none.",
	});
	expect((await at.call("glob", { pattern: "*", path: "nowhere" })).isError).toBe(true);
	expect((await at.call("glob", { pattern: "[" })).isError).toBe(true);
});

test("a search that does not come to its end is stopped and told", async () => {
	await using at = await makeTools({ "a.ts": "" });
	const stuck = (signal: AbortSignal | undefined) =>
		new Promise<never>((_resolve, reject) => {
			const stop = () => reject(new Error("stopped"));
			signal?.addEventListener("abort", stop);
			if (signal?.aborted) stop();
		});
	class Slow extends LocalEnvironment {
		override grep = ({ signal }: GrepRequest) => stuck(signal);
		override glob = ({ signal }: GlobRequest) => stuck(signal);
	}
	const environment = new Slow({ workingDirectory: at.folder.path, variables: {} });
	for (const tool of [createGrepTool(environment, false, 10), createGlobTool(environment, 10)]) {
		expect(readResult(await tool.execute("call", { pattern: "x" } as never, undefined))).toMatchObject({
			isError: true,
			text: "The search took more than 0.01 s and was stopped. Search a smaller folder.",
		});
		const stop = new AbortController();
		const answer = tool.execute("call", { pattern: "x" } as never, stop.signal);
		stop.abort();
		expect(readResult(await answer).text).not.toContain("smaller folder");
	}
});
