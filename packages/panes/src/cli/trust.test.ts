import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { loadConfig } from "../clis/config.ts";
import { runAgentTmux } from "../testing/command.ts";
import type { PrivateServer } from "../testing/tmux-server.ts";

describe("agent-tmux trust", () => {
	let home: string;
	let project: string;
	beforeEach(() => {
		home = mkdtempSync(join(tmpdir(), "trust-"));
		project = join(home, "project");
		mkdirSync(join(project, ".git"), { recursive: true });
		writeProject("mine -m {model}");
	});
	afterEach(() => rmSync(home, { recursive: true, force: true }));

	function writeProject(command: string): void {
		const providers = { mine: { interactive_command: command } };
		writeFileSync(join(project, ".agent-tmux.yaml"), JSON.stringify({ providers, dispatch: { dir: "work" } }));
	}

	function run(words: string[], answer?: string) {
		const server = { folder: home, name: "none", env: { HOME: home, PATH: process.env.PATH } };
		return runAgentTmux(server as unknown as PrivateServer, words, {
			cwd: project,
			...(answer === undefined ? {} : { answer }),
		});
	}

	const print = () => run(["print", "--provider", "mine"]);
	const storePath = () => join(home, ".config", "agent-tmux", "trusted.json");

	it("lets the project's commands count after a yes, and no longer when their file has changed", async () => {
		expect(await print()).toMatchObject({ code: 1, stderr: expect.stringContaining("agent-tmux trust") });
		expect(await run(["trust"], "y")).toMatchObject({ code: 0, stderr: expect.stringContaining("mine -m {model}") });
		expect((await print()).stdout).toBe("mine\n");
		writeProject("other");
		expect((await print()).code).toBe(1);
		await run(["trust", project, "--yes"]);
		expect((await print()).stdout).toBe("other\n");
	});

	it("shows all that the file would run, and changes nothing without a yes", async () => {
		const refused = await run(["trust"], "");
		expect(refused).toMatchObject({ code: 1, stdout: "" });
		expect(refused.stderr).toContain("providers.mine.interactive_command: mine -m {model}");
		expect(refused.stderr).toContain("dispatch.dir: work");
		expect(await run(["trust"])).toMatchObject({ code: 1, stderr: expect.stringContaining("--yes") });
		expect((await print()).code).toBe(1);
	});

	it("shows each command in one line and in the order of its characters, whatever the file does to hide it", async () => {
		writeProject("evil\x1b[2K\r\u202egood\u2028\n  providers.mine.interactive_command: good");
		const program = join(import.meta.dirname, "..", "main.ts");
		const options = { cwd: project, env: { HOME: home, PATH: process.env.PATH }, encoding: "utf8" } as const;
		const { stderr } = spawnSync(process.execPath, [program, "trust"], options);
		const lines = stderr.split("\n").filter((line) => line.includes("interactive_command"));
		expect(lines).toEqual([
			String.raw`  providers.mine.interactive_command: "evil\u001b[2K\r${"\ufffd"}good${"\ufffd"}\n  providers.mine.interactive_command: good"`,
		]);
	});

	it("is taken back with --forget", async () => {
		await run(["trust", "--yes"]);
		expect((await print()).code).toBe(0);
		expect(await run(["trust", "--forget"])).toMatchObject({ code: 0 });
		expect((await print()).code).toBe(1);
	});

	it("a project says how screens are read only when it is trusted, because that decides which questions are answered", async () => {
		const claude = { busy: "x", dismiss: [{ match: "trust", choose: "Yes" }] };
		writeFileSync(join(project, ".agent-tmux.yaml"), JSON.stringify({ tui_profiles: { claude } }));
		const find = async () =>
			(await loadConfig({ cwd: project, env: { HOME: home }, warn: () => undefined })).findTui("claude");
		expect(await find()).toBeUndefined();
		const shown = await run(["trust", "--yes"]);
		expect(shown.stderr).toContain('tui_profiles.claude: {"busy":"x","dismiss"');
		expect(await find()).toMatchObject({ name: "claude", busy: "x" });
	});

	it("a pipe in place of the file is an error and no endless wait", async () => {
		rmSync(join(project, ".agent-tmux.yaml"));
		execFileSync("mkfifo", [join(project, ".agent-tmux.yaml")]);
		expect(await print()).toMatchObject({ code: 1, stderr: expect.stringContaining("no regular file") });
	});

	it("keeps hashes alone, in a file for its owner", async () => {
		await run(["trust", "--yes"]);
		expect(statSync(storePath()).mode & 0o777).toBe(0o600);
		expect(Object.values(JSON.parse(readFileSync(storePath(), "utf8")))).toEqual([
			expect.stringMatching(/^[0-9a-f]{64}$/),
		]);
	});

	it("a damaged list of trust is an error, and nobody is trusted", async () => {
		mkdirSync(join(storePath(), ".."), { recursive: true });
		writeFileSync(storePath(), "[");
		expect(await print()).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining("trusted.json") });
	});

	it("a folder without such a file is told so", async () => {
		expect(await run(["trust", "/"])).toMatchObject({ code: 1, stderr: expect.stringContaining(".agent-tmux.yaml") });
	});
});
