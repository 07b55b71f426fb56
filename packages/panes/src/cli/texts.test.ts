import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { CLIS, findCli } from "../clis/index.ts";
import { readSkill, SKILLS } from "../clis/skills.ts";
import { runAgentTmux } from "../testing/command.ts";
import { findMentions } from "../testing/mentions.ts";
import type { PrivateServer } from "../testing/tmux-server.ts";
import { COMMANDS } from "./index.ts";

const GUIDE = new URL("../../../../docs/guide/agent-tmux.md", import.meta.url);
const texts = new Map<string, string>(SKILLS.map((name) => [`skill ${name}`, readSkill(name)]));
if (existsSync(GUIDE)) texts.set("the guide", readFileSync(GUIDE, "utf8"));

function run(...words: string[]) {
	const nowhere = { folder: tmpdir(), name: "none", env: { HOME: tmpdir() } } as unknown as PrivateServer;
	return runAgentTmux(nowhere, words);
}

describe("texts that teach agent-tmux", () => {
	it.each([...texts])("%s shows only commands and flags that exist", async (_name, text) => {
		const mentions = findMentions(text);
		expect(mentions.length).toBeGreaterThan(10);
		const wrong: string[] = [];
		for (const { verb, flags } of mentions) {
			const entry = COMMANDS.find((command) => command.name === verb);
			if (entry === undefined) {
				wrong.push(verb);
				continue;
			}
			const { spec } = await entry.load();
			wrong.push(
				...flags.filter((flag) => !(flag in spec.flags) && flag !== "help").map((flag) => `${verb} --${flag}`),
			);
		}
		expect(wrong).toEqual([]);
	});

	it("quote the commands of the providers as they are, and name no model", () => {
		const text = readSkill("cli-agents").replace(/\n {2}/g, " ");
		for (const name of ["claude", "codex", "agy", "kimi"]) {
			const cli = findCli(name)!;
			expect(text).toContain(`\`${cli.interactive}\``);
			expect(text).toContain(`\`${cli.headless}\``);
			for (const command of cli.discovery) expect(text).toContain(`\`${command}\``);
		}
		const models = CLIS.flatMap((cli) => Object.values(cli.fills).flatMap((fill) => fill?.model ?? []));
		expect(models.length).toBeGreaterThan(5);
		for (const model of models) expect(text).not.toMatch(new RegExp(`\\b${model}\\b`));
	});

	it("the helper is internal and loads only when a skill asks for it", () => {
		const frontmatter = parse(readSkill("cli-agents").split("---\n")[1] ?? "");
		expect(frontmatter).toMatchObject({
			...{ name: "cli-agents", "user-invocable": false, "disable-model-invocation": true },
			metadata: { internal: true },
		});
		expect(readSkill("cli-agents").match(/^## \d\./gm)?.length).toBe(5);
	});

	it("skill prints one and installs all", async () => {
		expect((await run("skill")).stdout).toBe(readSkill("agent-tmux"));
		expect((await run("skill", "nothing")).code).toBe(2);
		const folder = mkdtempSync(join(tmpdir(), "skills-"));
		expect((await run("skill", "--install", folder)).code).toBe(0);
		expect(readFileSync(join(folder, "cli-agents", "SKILL.md"), "utf8")).toBe(readSkill("cli-agents"));
		rmSync(folder, { recursive: true });
	});
});

describe("the help", () => {
	it("lists every command, and each one has a help that begins with its usage", async () => {
		const overview = (await run("--help")).stdout;
		for (const { name } of COMMANDS) {
			expect(overview).toMatch(new RegExp(`^ {2}${name} `, "m"));
			expect((await run(name, "--help")).stdout).toMatch(new RegExp(`^usage: agent-tmux ${name}\\b`));
		}
	});

	it("an unknown command, flag or argument count is a usage error that shows the form", async () => {
		expect(await run("lanch")).toMatchObject({ code: 2, stderr: expect.stringContaining('"launch"') });
		expect(await run("send", "x", "y", "--frobnicate")).toMatchObject({
			code: 2,
			stderr: expect.stringContaining("usage:"),
		});
		expect(await run("status")).toMatchObject({ code: 2, stdout: "" });
	});

	it("a name may stand before or after the options", async () => {
		const before = await run("launch", "n", "--cwd", "/nonexistent", "--", "cat");
		const after = await run("launch", "--cwd", "/nonexistent", "n", "--", "cat");
		expect(before).toEqual(after);
		expect(before.stderr).toContain("no such folder");
	});

	it("print, classify and providers work without tmux", async () => {
		expect((await run("print", "--provider", "kimi")).stdout).toBe("kimi --auto\n");
		expect((await run("print", "-t", "--provider", "codex")).stdout).toContain("{model}");
		expect((await run("print", "-t", "--model", "x")).code).toBe(2);
		expect((await run("run", "--headless")).code).toBe(2);
		expect((await run("print", "doing", "--", "-p", "two words")).stdout).toMatch(/ -p 'two words'\n$/);
		expect(JSON.parse((await run("print", "ship", "-o", "json")).stdout)).toMatchObject({
			kind: "stage",
			role: "fast",
		});
		expect(parse((await run("print", "ship", "-o", "yaml")).stdout)).toMatchObject({ kind: "stage", role: "fast" });
		expect((await run("print", "--provider", "nobody")).code).toBe(1);
		expect(JSON.parse((await run("providers", "--json")).stdout).length).toBe(CLIS.length);
		expect(await run("classify", "--cli", "nobody", "--screen", "x")).toMatchObject({ code: 2 });
		expect(await run("classify", "--cli", "codex", "--screen", "/nonexistent")).toMatchObject({ code: 1 });
	});
});
