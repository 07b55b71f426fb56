import { lstatSync, readFileSync, readlinkSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import { runProcess, tempHome } from "@prime-agent/testkit";
import { describe, expect, it } from "vitest";
import { documentedCommands } from "./testing/documented.ts";
import { findCommands, findPaths, isPresent, listDocuments, listFiles, readProse, root } from "./testing/documents.ts";

const documents = listDocuments();
const shown = documents
	.filter(({ path }) => path === "README.md" || path === "CONTRIBUTING.md" || path.startsWith("docs/guide/"))
	.flatMap(({ path, text }) => findCommands(text).map((command) => ({ path, command })));

describe("the documents", () => {
	it.each(documents)("$path names only paths that exist", ({ text }) => {
		expect(findPaths(readProse(text)).filter((path) => !isPresent(path))).toEqual([]);
	});

	it.each(documents)("$path links only to files that exist", ({ path, text }) => {
		const links = [...readProse(text).matchAll(/\]\(([^)#\s]+)[^)]*\)/g)].map((match) => match[1] ?? "");
		const local = links.filter((link) => !/^[a-z]+:/.test(link));
		expect(local.filter((link) => !isPresent(join(path, "..", link)))).toEqual([]);
	});

	it.each(documents)("$path names only npm scripts that exist", ({ text }) => {
		const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { scripts: object };
		const named = [...text.matchAll(/npm run (?:-\S+ )*([a-z][\w:-]*)/g)].map((match) => match[1] ?? "");
		expect(named.filter((name) => !(name in scripts))).toEqual([]);
	});

	it("AGENTS.md has fewer than 80 lines, and CLAUDE.md is a link to it", () => {
		expect(readFileSync(join(root, "AGENTS.md"), "utf8").split("\n").length).toBeLessThan(80);
		expect(lstatSync(join(root, "CLAUDE.md")).isSymbolicLink()).toBe(true);
		expect(readlinkSync(join(root, "CLAUDE.md"))).toBe("AGENTS.md");
	});

	it("and all other files name no folder of the machine that they were written on", () => {
		const home = userInfo().homedir;
		const folders = [root];
		if (home.startsWith("/home/") && home !== "/home/user") folders.push(`${home}/`);
		const found = listFiles().flatMap((path) => {
			const text = readFileSync(join(root, path), "latin1");
			return folders.filter((folder) => text.includes(folder)).map((folder) => `${path}: ${folder}`);
		});
		expect(found).toEqual([]);
	});
});

describe("the commands that the documents show", () => {
	it.each(shown)("$path: $command has a line in the table of documented commands", ({ command }) => {
		expect(documentedCommands.map((documented) => documented.command)).toContain(command);
	});

	it.each(documentedCommands)("$command is shown somewhere", ({ command }) => {
		expect(shown.map((each) => each.command)).toContain(command);
	});

	const runnable = documentedCommands.filter((documented) => "run" in documented);
	it.each(runnable)("$command does what it is shown for", async ({ command, run, shows }) => {
		await using home = await tempHome();
		const line = run === true ? command : run;
		const result = await runProcess("/bin/sh", ["-c", line], { cwd: root, env: home.env, timeoutMs: 50_000 });
		expect(result).toMatchObject({ code: 0, stdout: expect.stringMatching(shows) });
	});
});

describe("the reading of documents", () => {
	it("finds paths with a slash and an ending or from a top folder, and leaves examples alone", () => {
		const text =
			"`e2e/docs.test.ts` `scripts/` `lib/nothing.ts` `~/.prime/agent` `a/b` `--flag` `docs/decisions/NNNN-x.md`";
		expect(findPaths(text)).toEqual(["e2e/docs.test.ts", "scripts/", "lib/nothing.ts"]);
		expect(isPresent("lib/nothing.ts")).toBe(false);
		expect(isPresent("e2e/{docs,launcher}.test.ts")).toBe(true);
	});

	it("leaves out code blocks and what is planned, up to the next heading of the same rank", () => {
		const text = "a\n```sh\ncode\n```\n## Planned\nb\n### More\nc\n## Then\nd";
		expect(readProse(text)).toBe("a\n## Then\nd");
	});

	it("finds the commands of sh blocks without comments, with continued lines joined", () => {
		expect(findCommands("```sh\n# first\n./a \\\n  --b  # note\n```\n```ts\nx\n```\n")).toEqual(["./a --b"]);
	});
});
