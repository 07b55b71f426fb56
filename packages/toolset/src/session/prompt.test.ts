import { reply } from "@prime-agent/testkit";
import { expect, test } from "vitest";
import { LocalEnvironment } from "../environment/local.ts";
import { providerNames } from "../profiles/models.ts";
import { findProfile } from "../profiles/profile.ts";
import { makeFolder } from "../testing/folder.ts";
import { openTestSession, readContent } from "../testing/session.ts";

async function readPrompt(options: Parameters<typeof openTestSession>[1]): Promise<string> {
	await using at = await openTestSession([reply({ text: "done" })], options);
	await at.session.submit("go");
	const [system] = at.model.calls[0]!.context.messages;
	return readContent(system?.content);
}

test("the prompt has the profile's instructions, environment, tools, documents and the user's words in this order", async () => {
	const prompt = await readPrompt({
		files: { "AGENTS.md": "Use tabs.", "CLAUDE.md": "Be kind.", "GEMINI.md": "Not for you." },
		settings: { userInstructions: "Answer in Latin." },
	});
	const places = [
		findProfile("anthropic").instructions,
		"<environment>",
		"- edit_file: ",
		"Use tabs.",
		"Be kind.",
		"Answer in Latin.",
	].map((part) => prompt.indexOf(part));
	expect(places.every((place) => place >= 0)).toBe(true);
	expect(places).toEqual(places.toSorted((a, b) => a - b));
	expect(prompt.endsWith("Answer in Latin.")).toBe(true);
	expect(prompt).not.toContain("Not for you.");
});

test.each([
	["openai", [".codex/instructions.md", "AGENTS.md"]],
	["anthropic", ["AGENTS.md", "CLAUDE.md"]],
	["gemini", ["AGENTS.md", "GEMINI.md"]],
] as const)("the %s profile reads only its own documents", async (provider, own) => {
	const names = ["AGENTS.md", "CLAUDE.md", "GEMINI.md", ".codex/instructions.md"];
	const prompt = await readPrompt({
		provider,
		files: Object.fromEntries(names.map((name) => [name, `text of ${name}`])),
	});
	expect(names.filter((name) => prompt.includes(`text of ${name}`)).sort()).toEqual(own);
});

test.each([
	["anthropic", undefined, "default 120000, at most 600000"],
	["openai", undefined, "default 10000, at most 600000"],
	["gemini", undefined, "default 10000, at most 600000"],
	["gemini", 5000, "default 5000, at most 600000"],
] as const)(
	"commands of the %s profile with %s ms for the session have the limits: %s",
	async (provider, own, words) => {
		await using at = await openTestSession([reply({ text: "done" })], {
			provider,
			settings: own === undefined ? {} : { commandTimeoutMs: own },
		});
		await at.session.submit("go");
		expect(JSON.stringify(at.model.calls[0]!.context.messages[0])).toContain(words);
	},
);

test("outside of a repository the environment block leaves out what there is not", async () => {
	await using folder = await makeFolder();
	const environment = new LocalEnvironment({ workingDirectory: folder.path, variables: { PATH: process.env.PATH } });
	const prompt = await readPrompt({ environment });
	const block = /<environment>\n(.*)\n<\/environment>/s.exec(prompt)?.[1];
	expect(block?.split("\n")).toEqual([
		`Working directory: ${folder.path}`,
		"Is git repository: false",
		`Platform: ${environment.platform()}`,
		`OS version: ${environment.osVersion()}`,
		"Today's date: 2026-01-02",
		"Model: Scripted",
	]);
});

test("inside of a repository the environment block has branch, status and latest commits", async () => {
	await using folder = await makeFolder();
	const environment = new LocalEnvironment({ workingDirectory: folder.path, variables: { PATH: process.env.PATH } });
	const git = "git -c user.name=a -c user.email=a@example.org";
	await folder.write({ "a.txt": "1" });
	await environment.execCommand({
		command: `git init -q -b work && git add . && ${git} commit -qm "first subject" && echo 2 > a.txt && echo 3 > new.txt`,
		timeoutMs: 60_000,
	});
	const prompt = await readPrompt({ environment });
	expect(prompt).toContain("Is git repository: true\nGit branch: work\n");
	expect(prompt).toContain("Git status at the start: 1 modified, 1 untracked\nLatest commits:\n- first subject\n");
});

test.each<[string, string, string | undefined]>([
	["core.fsmonitor", 'git config core.fsmonitor "touch ran; false"', "0 modified, 0 untracked"],
	[
		"a filter",
		"git config filter.x.clean 'touch ran; cat' && echo '* filter=x' > .git/info/attributes && echo 2 > a.txt",
		undefined,
	],
])("the program that a repository's settings name for %s is not run", async (_name, setUp, status) => {
	await using folder = await makeFolder();
	const environment = new LocalEnvironment({ workingDirectory: folder.path, variables: { PATH: process.env.PATH } });
	const git = "git -c user.name=a -c user.email=a@example.org";
	await environment.execCommand({
		command: `git init -q && echo 1 > a.txt && git add . && ${git} commit -qm one && ${setUp}`,
		timeoutMs: 60_000,
	});
	const prompt = await readPrompt({ environment });
	expect(prompt).toContain("Latest commits:\n- one");
	expect(/Git status at the start: (.*)/.exec(prompt)?.[1]).toBe(status);
	expect(await environment.stat("ran")).toBeUndefined();
	await environment.execCommand({ command: "git status", timeoutMs: 60_000 });
	expect(await environment.stat("ran")).toBeDefined();
});

test.each(providerNames)("the tools of the %s profile come in a fixed order with good names", async (provider) => {
	await using folder = await makeFolder();
	const environment = new LocalEnvironment({ workingDirectory: folder.path, variables: {} });
	await using at = await openTestSession([reply({ text: "done" })], { provider, environment });
	await at.session.submit("go");
	const [system] = at.model.calls[0]!.context.messages;
	const names = (system as { toolsAdded?: { name: string }[] }).toolsAdded?.map((tool) => tool.name) ?? [];
	const common = ["spawn_agent", "send_input", "wait", "close_agent"];
	const own = {
		anthropic: ["read_file", "write_file", "edit_file", "shell", "grep", "glob"],
		openai: ["read_file", "write_file", "apply_patch", "shell", "grep", "glob"],
		gemini: ["read_file", "read_many_files", "write_file", "edit_file", "shell", "grep", "glob", "list_dir"],
	}[provider];
	expect(names).toEqual([...own, ...common]);
	expect(names.every((name) => /^[a-zA-Z][a-zA-Z0-9_]{0,63}$/.test(name))).toBe(true);
});
