import { spawn } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { LEGACY_STATE_OPTION, parseAgentState, SESSION_OPTION, STATE_OPTION } from "../drive/agent-state.ts";
import { type CommandResult, runAgentTmux } from "../testing/command.ts";
import { hasTmux, PrivateServer, until } from "../testing/tmux-server.ts";
import { findPane } from "../tmux/pane.ts";
import { readPaneOptions } from "../tmux/session.ts";
import { hookCommand } from "./command.ts";
import { findHarness, HARNESSES } from "./harness.ts";

const TOOL = "/opt/agent-tmux/agent-tmux.sh";

describe("installing hooks", () => {
	let home: string;
	beforeEach(() => {
		home = mkdtempSync(join(tmpdir(), "hooks-"));
		mkdirSync(join(home, "bin"));
		for (const program of ["claude", "codex"]) {
			writeFileSync(join(home, "bin", program), "#!/bin/sh\n");
			chmodSync(join(home, "bin", program), 0o755);
		}
	});
	afterEach(() => rmSync(home, { recursive: true, force: true }));

	function run(words: string[], options: { answer?: string; tool?: string } = {}): Promise<CommandResult> {
		const server = {
			folder: home,
			name: "none",
			env: { HOME: home, PATH: join(home, "bin") },
		} as unknown as PrivateServer;
		const env = { AGENT_TMUX_BIN: options.tool ?? TOOL };
		return runAgentTmux(server, ["hooks", ...words], {
			env,
			...(options.answer === undefined ? {} : { answer: options.answer }),
		});
	}

	const claudeFile = () => join(home, ".claude", "settings.json");
	const foreign = `{\n\t"model": "x",\n\t"hooks": {\n\t\t"Stop": [{ "hooks": [{ "type": "command", "command": "say done" }] }]\n\t}\n}\n`;

	function writeClaude(text: string): void {
		mkdirSync(dirname(claudeFile()), { recursive: true });
		writeFileSync(claudeFile(), text);
	}

	it("keeps foreign hooks and their order, does nothing twice, and gives back every byte (T57)", async () => {
		writeClaude(foreign);
		expect((await run(["install", "--agent", "claude", "--yes"])).stdout).toContain("installed claude");
		const settings = JSON.parse(readFileSync(claudeFile(), "utf8"));
		expect(settings.model).toBe("x");
		expect(settings.hooks.Stop[0].hooks[0].command).toBe("say done");
		expect(settings.hooks.Stop[1].hooks[0].command).toContain(`"${TOOL}" hook --agent claude idle`);
		expect(settings.hooks.Notification.map((entry: { matcher: string }) => entry.matcher)).toEqual([
			"permission_prompt|elicitation_dialog|agent_needs_input",
			"idle_prompt",
		]);
		expect(statSync(claudeFile()).mode & 0o777).toBe(0o600);
		expect((await run(["install", "--agent", "claude", "--yes"])).stdout).toBe("nothing to do\n");
		expect((await run(["status", "--agent", "claude"])).stdout).toMatch(/^claude: installed {2}/);
		await run(["uninstall", "--agent", "claude", "--yes"]);
		expect(readFileSync(claudeFile(), "utf8")).toBe(foreign);
		expect((await run(["uninstall", "--agent", "claude", "--yes"])).stdout).toBe("nothing to do\n");
	});

	it("takes out only its own entries when the file was changed in between", async () => {
		writeClaude(foreign);
		await run(["install", "--agent", "claude", "--yes"]);
		const settings = JSON.parse(readFileSync(claudeFile(), "utf8"));
		settings.theme = "dark";
		writeFileSync(claudeFile(), JSON.stringify(settings));
		await run(["uninstall", "--agent", "claude", "--yes"]);
		expect(JSON.parse(readFileSync(claudeFile(), "utf8"))).toEqual({ ...JSON.parse(foreign), theme: "dark" });
	});

	it("replaces entries of an earlier installation elsewhere", async () => {
		await run(["install", "--agent", "claude", "--yes"], { tool: "/old/agent-tmux" });
		await run(["install", "--agent", "claude", "--yes"]);
		const text = readFileSync(claudeFile(), "utf8");
		expect(text).not.toContain("/old/agent-tmux");
		await run(["uninstall", "--agent", "claude", "--yes"]);
		expect(existsSync(claudeFile())).toBe(false);
	});

	it.each(HARNESSES.map((harness) => [harness.name, harness] as const))(
		"for %s comes and goes without a trace",
		async (name, harness) => {
			const path = harness.path(home, {});
			expect(await run(["install", "--agent", name, "--yes"])).toMatchObject({ code: 0 });
			const text = readFileSync(path, "utf8");
			for (const { token } of harness.events) expect(text).toContain(`hook --agent ${name} ${token}`);
			expect((await run(["status", "--agent", name, "--json"])).stdout).toContain('"state":"installed"');
			await run(["uninstall", "--agent", name, "--yes"]);
			expect(existsSync(path)).toBe(false);
		},
	);

	it("keeps the user's TOML around its block", async () => {
		const path = findHarness("kimi")!.path(home, {});
		mkdirSync(dirname(path), { recursive: true });
		writeFileSync(path, 'default_model = "k"\n\n[[hooks]]\nevent = "Stop"\ncommand = "say done"');
		const before = readFileSync(path, "utf8");
		await run(["install", "--agent", "kimi", "--yes"]);
		writeFileSync(path, `${readFileSync(path, "utf8")}\n[later]\n`);
		await run(["uninstall", "--agent", "kimi", "--yes"]);
		expect(readFileSync(path, "utf8")).toBe(`${before}\n\n[later]\n`);
	});

	it("writes for the agents on PATH only when none is named", async () => {
		const result = await run(["install", "--yes", "--json"]);
		expect(JSON.parse(result.stdout).changed.map((change: { agent: string }) => change.agent)).toEqual([
			"claude",
			"codex",
		]);
		expect(result.stderr).toContain("/hooks");
	});

	it("asks before it writes, and refuses without a terminal or without a yes (T58)", async () => {
		writeClaude(foreign);
		expect(await run(["install", "--agent", "claude"])).toMatchObject({
			code: 1,
			stderr: expect.stringContaining("--yes"),
		});
		expect(await run(["install", "--agent", "claude"], { answer: "" })).toMatchObject({ code: 1 });
		expect(readFileSync(claudeFile(), "utf8")).toBe(foreign);
		expect(await run(["install", "--agent", "claude"], { answer: "y" })).toMatchObject({ code: 0 });
	});

	it("shows both files and writes nothing in a dry run, also with --yes (T58)", async () => {
		writeClaude(foreign);
		const result = await run(["install", "--agent", "claude", "--dry-run", "--yes"]);
		expect(result.stdout).toContain("+++ ");
		expect(readFileSync(claudeFile(), "utf8")).toBe(foreign);
	});

	it("leaves a file alone that is no JSON", async () => {
		writeClaude("{ broken");
		expect(await run(["install", "--agent", "claude", "--yes"])).toMatchObject({
			code: 1,
			stderr: expect.stringContaining("left alone"),
		});
		expect(readFileSync(claudeFile(), "utf8")).toBe("{ broken");
	});

	it.each(["/opt/$x", "relative", "/a'b", '/a"b', "/a`b", "/a\\b"])("refuses the tool path %j (T59)", async (tool) => {
		expect(await run(["install", "--agent", "claude", "--yes"], { tool })).toMatchObject({ code: 1 });
		expect(existsSync(claudeFile())).toBe(false);
	});
});

describe.skipIf(!hasTmux).concurrent("a hook that fires (needs tmux)", () => {
	const MAIN = fileURLToPath(new URL("../main.ts", import.meta.url));
	let server: PrivateServer;
	beforeAll(() => {
		server = new PrivateServer();
	});
	afterAll(() => server[Symbol.asyncDispose]());

	function fire(
		words: string[],
		env: NodeJS.ProcessEnv,
		input: string | undefined = "",
	): Promise<{ code: number; output: string }> {
		return new Promise((resolve) => {
			const child = spawn(process.execPath, [MAIN, "hook", ...words], { env: { ...server.env, ...env } });
			let output = "";
			child.stdout.on("data", (chunk) => {
				output += chunk;
			});
			child.stderr.on("data", (chunk) => {
				output += chunk;
			});
			child.stdin.on("error", (error) => void error);
			child.on("close", (code) => resolve({ code: code ?? -1, output }));
			child.stdin.end(input);
		});
	}

	function inPane(pane: string): NodeJS.ProcessEnv {
		return { TMUX_PANE: pane, TMUX: `${server.folder}/tmux-${process.getuid?.()}/${server.name},1,0` };
	}

	it.each([
		[["--agent", "claude", "idle"], {}],
		[["--agent", "claude", "sleeping"], { TMUX_PANE: "%0" }],
		[["--agent"], { TMUX_PANE: "%0" }],
		[["--agent", "nobody", "idle"], { TMUX_PANE: "%0" }],
		[["--agent", "claude", "idle", "more"], { TMUX_PANE: "%0" }],
		[["--agent", "claude", "idle"], { TMUX_PANE: "%0", TMUX: "/nowhere/socket,1,0" }],
	])("%j with %j is silent and succeeds (T53)", async (words, env) => {
		expect(await fire(words, env as NodeJS.ProcessEnv)).toEqual({ code: 0, output: "" });
	});

	it("writes state and session under both names, without a pid when no ancestor is the agent (T55)", async () => {
		const pane = await server.open("exec cat");
		expect(await fire(["--agent", "claude", "waiting"], inPane(pane), '{"session_id":"abc"}')).toEqual({
			code: 0,
			output: "",
		});
		const options = await readPaneOptions(server.tmux, pane);
		expect(options.get(STATE_OPTION)).toMatch(/^waiting:\d+$/);
		expect(options.get(LEGACY_STATE_OPTION)).toBe(options.get(STATE_OPTION));
		expect(options.get(SESSION_OPTION)).toBe("claude:abc");
	});

	it("stamps the session without touching the state and ignores a huge input (T53, T56)", async () => {
		const pane = await server.open("exec cat");
		await fire(["--agent", "codex", "active"], inPane(pane));
		const before = (await readPaneOptions(server.tmux, pane)).get(STATE_OPTION);
		await fire(["--agent", "codex", "stamp"], inPane(pane), '{"session_id":"s-1"}');
		await fire(["--agent", "codex", "stamp"], inPane(pane), `{"session_id":"${"x".repeat(2_000_000)}"}`);
		await fire(["--agent", "codex", "stamp"], inPane(pane), '{"session_id":"has blank"}');
		const options = await readPaneOptions(server.tmux, pane);
		expect(options.get(STATE_OPTION)).toBe(before);
		expect(options.get(SESSION_OPTION)).toBe("codex:s-1");
	});

	it("names the agent's process through the shells between it and the hook (T54)", async () => {
		const tool = join(server.folder, "tool");
		writeFileSync(tool, `#!/bin/sh\nexec "${process.execPath}" --no-warnings "${MAIN}" "$@"\n`, { mode: 0o755 });
		const command = hookCommand(tool, findHarness("claude")!, "waiting");
		const agent = join(server.folder, "claude");
		writeFileSync(agent, `#!/bin/sh\nprintf '{}' | ${command}\nsleep 600\n`, { mode: 0o755 });
		const pane = await server.open(`exec ${agent}`);
		const value = await until(async () => (await readPaneOptions(server.tmux, pane)).get(STATE_OPTION), "the state");
		expect(parseAgentState(value)).toEqual({
			word: "waiting",
			epoch: expect.any(Number),
			pid: (await findPane(server.tmux, pane))?.pid,
		});
	});

	it("answers agy with an empty object, also outside of tmux", async () => {
		expect(await fire(["--agent", "agy", "idle"], {})).toEqual({ code: 0, output: "{}\n" });
		expect(hookCommand(TOOL, findHarness("agy")!, "idle")).toContain('echo "{}"');
	});
});
