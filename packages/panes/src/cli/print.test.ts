import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { runAgentTmux } from "../testing/command.ts";
import type { PrivateServer } from "../testing/tmux-server.ts";

describe("agent-tmux print", () => {
	let home: string;
	beforeAll(() => {
		home = mkdtempSync(join(tmpdir(), "print-"));
		mkdirSync(join(home, ".config", "agent-tmux"), { recursive: true });
		const mine = { providers: { mine: { headless_command: "printf '[%s]'" } } };
		writeFileSync(join(home, ".config", "agent-tmux", "config.yaml"), JSON.stringify(mine));
	});
	afterAll(() => rmSync(home, { recursive: true, force: true }));

	const run = (...words: string[]) => {
		const server = { folder: home, name: "none", env: { HOME: home, PATH: process.env.PATH } };
		return runAgentTmux(server as unknown as PrivateServer, words);
	};

	it.each([
		[["--provider="], "providers.<name>"],
		[["--provider", "bogus"], "agy, claude, codex"],
		[["nonsense"], "review-pr"],
		[["--provider", "mine"], "providers.mine.interactive_command"],
	])("%j exits 1 and names what there is (T12, T13, T14, T15)", async (words, hint) => {
		expect(await run("print", ...words)).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining(hint) });
	});

	it("the headless form of a provider without an interactive one is printed (T15)", async () => {
		expect(await run("print", "--provider", "mine", "--headless")).toMatchObject({
			code: 0,
			stdout: "printf '[%s]'\n",
		});
	});

	it("--template shows either form with its placeholders (T16)", async () => {
		expect((await run("print", "-t", "--provider", "kimi")).stdout).toBe("kimi --auto -m {model}\n");
		expect((await run("print", "-t", "--provider", "kimi", "--headless")).stdout).toBe(
			`sh -c 'kimi -m {model} -p "$(cat)"'\n`,
		);
	});

	it.each([
		["print", "-t", "--model", "x"],
		["run", "--headless"],
		["print", "-t", "-o", "yaml"],
		["print", "-o", "xml"],
	])("%s %s %s %s is a usage error (T17, T18)", async (...words) => {
		expect((await run(...words)).code).toBe(2);
	});

	it("-o yaml tells where each value of a stage comes from, with keys in a fixed order (T19)", async () => {
		const { stdout } = await run("print", "ship", "--provider", "codex", "--effort", "low", "-o", "yaml");
		const document = parse(stdout);
		expect(Object.keys(document).slice(0, 4)).toEqual(["selector", "kind", "role", "provider"]);
		expect(document).toMatchObject({ selector: "ship", kind: "stage", role: "fast", provider: "codex", effort: "low" });
		expect(document.source).toEqual({
			provider: "flag",
			model: "providers.codex.profiles.fast",
			effort: "flag",
		});
	});

	it("words after -- reach the program as they are (T20)", async () => {
		const { stdout } = await run("print", "--provider", "mine", "--headless", "--", "two words", "$(x);");
		expect(execFileSync("sh", ["-c", stdout], { encoding: "utf8" })).toBe("[two words][$(x);]");
	});
});
