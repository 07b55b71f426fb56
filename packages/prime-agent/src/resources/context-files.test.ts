import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { tempHome } from "@prime-agent/testkit";
import { expect, it, onTestFinished } from "vitest";
import { findContextFiles, findPromptFiles } from "./context-files.ts";

async function setUp(files: Record<string, string>) {
	const home = await tempHome();
	onTestFinished(() => home.dispose());
	const agent = join(home.path, "agent");
	const cwd = join(home.path, "project", "sub");
	await mkdir(agent);
	await mkdir(join(cwd, ".prime", "agent"), { recursive: true });
	for (const [path, text] of Object.entries(files)) await writeFile(join(home.path, path), text);
	return { agent, cwd, root: home.path };
}

it("reads the user's file first, then those of the folders from the top down to the working folder", async () => {
	const { agent, cwd } = await setUp({
		"agent/AGENTS.md": "1",
		"project/AGENTS.md": "2",
		"project/sub/CLAUDE.md": "3",
	});
	const { files, warnings } = findContextFiles(agent, cwd);
	expect(files.map(({ text }) => text)).toEqual(["1", "2", "3"]);
	expect(files[2]?.path).toBe(join(cwd, "CLAUDE.md"));
	expect(warnings).toEqual([]);
});

it("takes AGENTS.md and not CLAUDE.md where a folder has both", async () => {
	const { agent, cwd } = await setUp({ "project/AGENTS.md": "agents", "project/CLAUDE.md": "claude" });
	expect(findContextFiles(agent, cwd).files.map(({ text }) => text)).toEqual(["agents"]);
});

it("reads a file once, however many links lead to it", async () => {
	const { agent, cwd, root } = await setUp({ "project/AGENTS.md": "once" });
	await symlink(join(root, "project", "AGENTS.md"), join(cwd, "AGENTS.md"));
	expect(findContextFiles(agent, cwd).files).toHaveLength(1);
});

it("reports a file that cannot be read and goes on", async () => {
	const { agent, cwd } = await setUp({ "project/AGENTS.md": "2" });
	await mkdir(join(cwd, "AGENTS.md"));
	const { files, warnings } = findContextFiles(agent, cwd);
	expect(files.map(({ text }) => text)).toEqual(["2"]);
	expect(warnings).toEqual([expect.stringMatching(/sub\/AGENTS\.md is not used: it is a folder/)]);
});

it("replaces the system prompt by the project's file rather than the user's, and adds both additions", async () => {
	const { agent, cwd } = await setUp({
		"agent/SYSTEM.md": "user",
		"project/sub/.prime/agent/SYSTEM.md": "project",
		"agent/APPEND_SYSTEM.md": "user's addition",
		"project/sub/.prime/agent/APPEND_SYSTEM.md": "project's addition",
	});
	const { system, append } = findPromptFiles(agent, cwd);
	expect(system?.text).toBe("project");
	expect(append.map(({ text }) => text)).toEqual(["user's addition", "project's addition"]);
});

it("has no prompt files where there are none", async () => {
	const { agent, cwd } = await setUp({});
	expect(findPromptFiles(agent, cwd)).toEqual({ system: undefined, append: [], warnings: [] });
});
