import { symlink } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { LocalEnvironment } from "./environment/local.ts";
import { loadProjectDocuments } from "./project-docs.ts";
import { makeFolder, type TestFolder } from "./testing/folder.ts";

async function load(folder: TestFolder, below: string, names: string[]) {
	const workingDirectory = join(folder.path, below);
	const documents = await loadProjectDocuments(new LocalEnvironment({ workingDirectory, variables: {} }), names);
	return documents.map(({ path, content }) => [path.slice(folder.path.length + 1), content]);
}

test("documents are read from the root of the repository down, in the order of their names", async () => {
	await using folder = await makeFolder();
	await folder.write({
		"AGENTS.md": "outside",
		"repo/.git/HEAD": "",
		"repo/AGENTS.md": "root",
		"repo/CLAUDE.md": "root claude",
		"repo/GEMINI.md": "other",
		"repo/sub/CLAUDE.md": "sub claude",
		"repo/sub/deep/AGENTS.md": "deep",
		"repo/sub/deep/below/AGENTS.md": "too deep",
	});
	expect(await load(folder, "repo/sub/deep", ["AGENTS.md", "CLAUDE.md"])).toEqual([
		["repo/AGENTS.md", "root"],
		["repo/CLAUDE.md", "root claude"],
		["repo/sub/CLAUDE.md", "sub claude"],
		["repo/sub/deep/AGENTS.md", "deep"],
	]);
});

test("outside of a repository only the working directory counts", async () => {
	await using folder = await makeFolder();
	await folder.write({ "AGENTS.md": "above", "sub/.codex/instructions.md": "mine" });
	expect(await load(folder, "sub", ["AGENTS.md", ".codex/instructions.md"])).toEqual([
		["sub/.codex/instructions.md", "mine"],
	]);
});

test("empty files, links to files that were read and equal contents are left out", async () => {
	await using folder = await makeFolder();
	await folder.write({ ".git/HEAD": "", "AGENTS.md": "same", "sub/AGENTS.md": "  \n", "sub/GEMINI.md": "same" });
	await symlink("AGENTS.md", join(folder.path, "CLAUDE.md"));
	expect(await load(folder, "sub", ["AGENTS.md", "CLAUDE.md", "GEMINI.md"])).toEqual([["AGENTS.md", "same"]]);
});

test("more than 32 KB are cut between characters and later files are left out", async () => {
	await using folder = await makeFolder();
	await folder.write({ ".git/HEAD": "", "AGENTS.md": `${"x".repeat(32_765)}éé`, "CLAUDE.md": "later" });
	const documents = await load(folder, ".", ["AGENTS.md", "CLAUDE.md"]);
	expect(documents).toEqual([["AGENTS.md", `${"x".repeat(32_765)}é\n[Project instructions truncated at 32KB]`]]);
});
