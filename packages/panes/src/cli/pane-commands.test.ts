import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { formatAgentState, STATE_OPTION } from "../drive/agent-state.ts";
import { runAgentTmux } from "../testing/command.ts";
import { HOOKS, startFake } from "../testing/fake-pane.ts";
import { hasTmux, PrivateServer, until } from "../testing/tmux-server.ts";
import { findPane } from "../tmux/pane.ts";
import { setPaneOptions } from "../tmux/session.ts";

describe.skipIf(!hasTmux).concurrent("the pane commands of agent-tmux (needs tmux)", () => {
	let server: PrivateServer;
	beforeAll(() => {
		server = new PrivateServer();
	});
	afterAll(() => server[Symbol.asyncDispose]());

	const run = (...words: string[]) => runAgentTmux(server, words);

	/** Gives a pane the state that hooks would write. */
	async function setState(pane: string, word: "active" | "waiting" | "idle", pid = process.pid): Promise<void> {
		const value = formatAgentState({ word, epoch: Math.floor(Date.now() / 1000), pid });
		await setPaneOptions(server.tmux, pane, { [STATE_OPTION]: value });
	}

	it("ready reports a parked pane with the screen, as text and as JSON, and exits 0 (T67, T72)", async () => {
		const { pane } = await startFake(server, ["--wall", "Trust this folder?"]);
		const text = await run("ready", pane);
		expect(text).toMatchObject({
			code: 0,
			stdout: expect.stringMatching(/^parked\npane: %\d+\n--- last 20 lines ---\n/),
		});
		const json = JSON.parse((await run("ready", pane, "--json")).stdout);
		expect(json).toMatchObject({ state: "parked", pane, server: null, reason: "stable" });
		expect(json.snippet).toContain("Trust this folder?");
	});

	it("ready and deliver tell a missing pane (2) from an unreachable server (3) (T73)", async () => {
		await server.open("cat");
		expect(await run("ready", "%999")).toMatchObject({ code: 2, stdout: "" });
		expect(await run("deliver", "%999", "--text", "x")).toMatchObject({ code: 2 });
		const lost = await run("ready", "%0", "-L", "nobody");
		expect(lost).toMatchObject({ code: 3, stderr: expect.stringContaining("nobody") });
	});

	it("deliver hands over text or a pointer to a file (T74, T75)", async () => {
		const { pane, log } = await startFake(server, []);
		expect(await run("deliver", pane, "--text", "hello")).toMatchObject({
			code: 0,
			stdout: `delivered ${pane} (text)\n`,
		});
		writeFileSync(join(server.folder, "p.md"), "do it");
		const file = await run("deliver", pane, "--prompt-file", "p.md", "--json");
		expect(JSON.parse(file.stdout)).toEqual({ pane, source: "prompt", path: "p.md" });
		expect(log.messages()).toEqual(["hello", "Read p.md and execute it."]);
	});

	it.each([
		[["--prompt-file", "missing.md"], 1],
		[["--text", "a", "--prompt-file", "b"], 2],
		[[], 2],
		[["--text", "a\nb"], 2],
		[["--text", " "], 2],
	])("deliver %j exits %i before any key (T76, T77)", async (flags, code) => {
		const { pane, log } = await startFake(server, []);
		expect((await run("deliver", pane, ...flags)).code).toBe(code);
		expect(log.keys()).toEqual([]);
	});

	it.each([
		["idle", "plain", 0],
		["idle", "--answer", 0],
		["waiting", "plain", 1],
		["waiting", "--answer", 0],
		["active", "plain", 1],
		["active", "--answer", 1],
		["active", "--force", 0],
		["waiting", "--force", 0],
	] as const)("send to an agent that is %s, %s, exits %i and sends only then (T86)", async (state, mode, code) => {
		const { pane, log } = await startFake(server, []);
		await setState(pane, state);
		const result = await run("send", pane, "hello", ...(mode === "plain" ? [] : [mode]));
		expect(result.code).toBe(code);
		expect(result.stdout).toBe(code === 0 ? `delivered ${pane}\n` : "");
		expect(log.messages()).toEqual(code === 0 ? ["hello"] : []);
		if (code !== 0) expect(result.stderr).toContain(state);
	});

	it("send warns about an unknown state and sends (T87)", async () => {
		const { pane, log } = await startFake(server, []);
		const result = await run("send", pane, "hello");
		expect(result).toMatchObject({
			code: 0,
			stdout: `delivered ${pane}\n`,
			stderr: expect.stringContaining("no agent state"),
		});
		expect(log.messages()).toEqual(["hello"]);
	});

	it.each([
		["a message", "--answer", "--force"],
		["a message", "--key", "Up"],
		[],
		[" "],
		["a message", "--await", "--no-enter"],
		["a message", "--timeout", "-1"],
		["a message", "--await=sleeping"],
	])("send %j %j %j is a usage error (T88)", async (...flags) => {
		const { pane } = await startFake(server, []);
		expect((await run("send", pane, ...flags)).code).toBe(2);
	});

	it("send presses named keys in order without a probe (T89)", async () => {
		const { pane, log } = await startFake(server, []);
		expect(await run("send", pane, "--key", "Up", "--key", "Enter")).toMatchObject({
			code: 0,
			stdout: `sent ${pane}\n`,
		});
		await until(() => log.keys().length === 2, "the keys");
		expect(log.keys()).toEqual(["Up", "Enter"]);
	});

	it("send takes several lines from standard input as one message (T90, T91)", async () => {
		const { pane, log } = await startFake(server, []);
		const result = await runAgentTmux(server, ["send", pane, "-"], { input: "one\ntwo\u001b[201~\0\nthree\n" });
		expect(result.code).toBe(0);
		expect(log.messages()).toEqual(["one\ntwo[201~\nthree"]);
	});

	it("send can leave the text in the composer (T92)", async () => {
		const { pane, log } = await startFake(server, []);
		expect(await run("send", pane, "later", "--no-enter")).toMatchObject({ code: 0, stdout: `staged ${pane}\n` });
		expect((await run("capture", pane, "--raw")).stdout).toContain("> later");
		expect(log.messages()).toEqual([]);
	});

	it("send reports a wall that shows no text, presses no Enter and names the reason (T93)", async () => {
		const { pane, log } = await startFake(server, ["--wall", "Trust this folder?"]);
		const result = await run("send", pane, "hello", "--json");
		expect(result.code).toBe(1);
		expect(JSON.parse(result.stdout)).toMatchObject({ ok: false, error: { reason: "no_echo" } });
		expect(log.keys()).toEqual([]);
	});

	it("send recovers once from an ignored Enter and doubles nothing (T94, T96)", async () => {
		const { pane, log } = await startFake(server, ["--ignore-enter", "1", "--kill-line"]);
		const result = await runAgentTmux(server, ["send", pane, "-"], { input: "one\ntwo\nthree" });
		expect(result).toMatchObject({
			code: 0,
			stdout: `delivered ${pane}\n`,
			stderr: expect.stringContaining("once more"),
		});
		expect(log.messages()).toEqual(["one\ntwo\nthree"]);
	});

	it("send says unverified when Enter never does anything and does not wait then (T95)", async () => {
		const { pane, log } = await startFake(server, ["--ignore-enter", "99"]);
		const result = await run("send", pane, "hello", "--await");
		expect(result).toMatchObject({ code: 1, stdout: `unverified ${pane}\n` });
		expect(log.messages()).toEqual([]);
	});

	it("send counts a folded paste as its echo, but not one that was there before (T97, T98)", async () => {
		const { pane, log } = await startFake(server, ["--chip", "200"]);
		const text = "z".repeat(500);
		expect((await run("send", pane, text)).code).toBe(0);
		expect(log.messages()).toEqual([text]);
		const stale = await startFake(server, ["--prelude", "[Pasted Content 500 chars]", "--no-echo"]);
		expect(await run("send", stale.pane, text)).toMatchObject({ code: 1, stdout: "" });
		expect(stale.log.keys()).toEqual([]);
	});

	it("two senders to one pane give two whole messages (T99)", async () => {
		const { pane, log } = await startFake(server, []);
		const texts = ["first\nmessage", "second\nmessage"];
		const results = await Promise.all(texts.map((input) => runAgentTmux(server, ["send", pane, "-"], { input })));
		expect(results.map((result) => result.code)).toEqual([0, 0]);
		expect(log.messages().sort()).toEqual(texts);
	});

	it("send and await goes through active before it takes idle for the end (T100)", async () => {
		const { pane, log } = await startFake(server, ["--turn", "800", "--hooks", HOOKS]);
		const pid = (await findPane(server.tmux, pane))?.pid ?? 0;
		await setState(pane, "idle", pid);
		const result = await run("send", pane, "work", "--await=idle", "--timeout", "30");
		expect(result).toMatchObject({ code: 0, stdout: `idle ${pane}\n` });
		expect(log.entries().at(-1)?.type).toBe("turn-end");
	});

	it("send and await reports the delivery although an uninstrumented pane cannot be waited for (T101)", async () => {
		const { pane } = await startFake(server, []);
		const result = await run("send", pane, "work", "--await");
		expect(result).toMatchObject({
			code: 1,
			stdout: `delivered ${pane}\n`,
			stderr: expect.stringContaining("hooks install"),
		});
	});

	it("await answers at once for a state that is there, a file that exists and a pane that is gone", async () => {
		const { pane } = await startFake(server, []);
		await setState(pane, "waiting");
		expect(await run("await", pane, "--until", "idle,waiting")).toMatchObject({ code: 0, stdout: "waiting\n" });
		writeFileSync(join(server.folder, "done.txt"), "");
		expect(await run("await", pane, "--file", "done.txt")).toMatchObject({ code: 0, stdout: "file\n" });
		expect(await run("await", pane, "--timeout", "0.1", "--json")).toMatchObject({
			code: 0,
			stdout: expect.stringContaining('"hint":"call again"'),
		});
	});

	it.each([
		["--until", "idle,idle"],
		["--until", "foo"],
		["--timeout", "-1"],
		["--ready", "--any"],
	])("await %s %s is a usage error (T109)", async (...flags) => {
		const pane = await server.open("cat");
		expect((await run("await", pane, ...flags)).code).toBe(2);
	});

	it("await refuses an uninstrumented pane without a file and the same pane twice (T108, T111)", async () => {
		const pane = await server.open("cat");
		expect(await run("await", pane)).toMatchObject({ code: 1, stderr: expect.stringContaining("--file") });
		expect((await run("await", pane, pane, "--any")).code).toBe(2);
	});

	it("await --ready tells a wall, a narrow pane and a ready one (T112)", async () => {
		const wall = await startFake(server, ["--wall", "Trust this folder?"]);
		const parked = await run("await", wall.pane, "--ready");
		expect(parked).toMatchObject({
			code: 0,
			stdout: `parked ${wall.pane}\n`,
			stderr: expect.stringContaining("Trust"),
		});
		const small = await startFake(server, [], { width: 60, height: 15 });
		expect((await run("await", small.pane, "--ready")).stdout).toBe(`narrow ${small.pane} (60x15)\n`);
		const agent = await startFake(server, []);
		expect((await run("await", agent.pane, "--ready")).stdout).toBe(`ready ${agent.pane} (echo)\n`);
	});

	it("kill refuses a working or waiting agent, and ends an idle, an unknown and any forced one (T113)", async () => {
		for (const [state, flags, code] of [
			["active", [], 1],
			["waiting", [], 1],
			["active", ["--force"], 0],
			["idle", [], 0],
			[undefined, [], 0],
		] as const) {
			const pane = await server.open("cat");
			if (state !== undefined) await setState(pane, state);
			expect([state, (await run("kill", pane, ...flags)).code]).toEqual([state, code]);
			expect((await findPane(server.tmux, pane)) === undefined).toBe(code === 0);
		}
	});

	it("capture prints the last rows with folder and state, raw rows, or JSON (T37, T38, T39)", async () => {
		const pane = await server.open("printf 'one\\n\\nthree'; exec cat", { cwd: "/" });
		await until(async () => (await run("capture", pane, "--raw")).stdout === "one\n\nthree\n", "the rows");
		await setState(pane, "idle");
		const text = (await run("capture", pane, "-l", "2")).stdout;
		expect(text).toMatch(/^--- pane %\d+ ---\ncwd: \/ \| agent: idle \(\d+s\)\n---\n\nthree\n$/);
		const json = JSON.parse((await run("capture", pane, "--json")).stdout);
		expect(json).toMatchObject({ pane, lines: 50, content: "one\n\nthree\n", cwd: "/", agent_state: "idle" });
		expect((await run("capture", pane, "-l", "0")).code).toBe(2);
		expect((await run("capture", pane, "--raw", "--json")).code).toBe(2);
		expect((await run("capture", "%999")).code).toBe(1);
	});

	it("map lists all panes, shows no state that was set for the whole server, and needs a scope outside tmux (T51, T117)", async () => {
		const pane = await server.open("exec cat");
		await until(async () => (await findPane(server.tmux, pane))?.command === "cat", "the program");
		for (const value of ["idle:1", `idle:1:${process.pid}`]) {
			await server.tmux.run(["set-option", "-g", STATE_OPTION, value]);
			const shown = JSON.parse((await run("map", "--all-sessions", "--json")).stdout) as { pane: string }[];
			expect(shown.find((row) => row.pane === pane)).toMatchObject({ agent_state: null });
		}
		await server.tmux.run(["set-option", "-gu", STATE_OPTION]);
		const rows = JSON.parse((await run("map", "--all-sessions", "--json")).stdout) as { pane: string }[];
		expect(rows.find((row) => row.pane === pane)).toMatchObject({
			command: "cat",
			agent_state: null,
			worktree: expect.any(String),
		});
		expect((await run("map", "--all-sessions")).stdout).toMatch(
			/^SESSION +WINDOW +PANE +ACTIVE +AGENT +COMMAND +CWD\n/,
		);
		const outside = await runAgentTmux(server, ["map"], { env: { TMUX: "" } });
		expect(outside).toMatchObject({ code: 1, stderr: expect.stringContaining("not inside a tmux session") });
		expect((await run("map", "--session", "nobody")).code).toBe(1);
	});

	it("map keeps the window's id when windows swap their places (T116)", async () => {
		const pane = await server.open("exec cat");
		const session = (await server.tmux.run(["display-message", "-p", "-t", pane, "#{session_name}"])).trim();
		await server.tmux.run(["new-window", "-d", "-t", `=${session}:`, "exec cat"]);
		const read = async () => {
			const rows = JSON.parse((await run("map", "--session", session, "--json")).stdout);
			return rows.find((row: { pane: string }) => row.pane === pane);
		};
		const before = await read();
		const [first, second] = (await server.tmux.run(["list-windows", "-t", `=${session}`, "-F", "#{window_id}"]))
			.trim()
			.split("\n");
		await server.tmux.run(["swap-window", "-s", first ?? "", "-t", second ?? ""]);
		const after = await read();
		expect(after.window_id).toBe(before.window_id);
		expect(after.window_index).not.toBe(before.window_index);
	});

	it("process finds the agent by the pid of its state (T115)", async () => {
		const { pane } = await startFake(server, []);
		expect(JSON.parse((await run("process", pane, "--json")).stdout)).toMatchObject({ has_agent: false });
		const pid = (await findPane(server.tmux, pane))?.pid ?? 0;
		await setState(pane, "idle", pid);
		expect(JSON.parse((await run("process", pane, "--json")).stdout)).toMatchObject({
			has_agent: true,
			pane_pid: pid,
			processes: [{ pid, classification: "agent" }],
		});
		expect((await run("process", pane)).stdout).toContain("Agent process detected.");
	});

	it("takes the name of a session, and neither a window's name nor a bare session:window", async () => {
		await server.tmux.run(["new-session", "-d", "-s", "at_named", "-n", "win", "printf named; exec cat"]);
		await until(async () => (await run("capture", "named", "--raw")).stdout === "named\n", "the session's rows");
		expect((await run("ready", "win")).code).toBe(2);
		expect(await run("capture", "at_named:win")).toMatchObject({ code: 2, stdout: "" });
		expect((await run("capture", "=at_named:win", "--raw")).stdout).toBe("named\n");
	});

	it("a window target is routed to the pane whose agent reports a state (T114)", async () => {
		const first = await server.open("cat");
		const split = (await server.tmux.run(["split-window", "-d", "-t", first, "-P", "-F", "#{pane_id}", "cat"])).trim();
		await setState(split, "idle");
		const window = (await findPane(server.tmux, first))?.windowId ?? "";
		expect(JSON.parse((await run("capture", window, "--json")).stdout).pane).toBe(split);
	});

	it("open splits the caller's window, opens a window otherwise, and fails on a dead server", async () => {
		const caller = await server.open("cat");
		const folder = join(server.folder, "xdg", "agent-tmux");
		mkdirSync(folder, { recursive: true });
		writeFileSync(join(folder, "config.yaml"), "providers: { mine: { interactive_command: cat } }\n");
		const env = { XDG_CONFIG_HOME: join(server.folder, "xdg") };
		const split = await runAgentTmux(server, ["open", "--provider", "mine", "--json"], { env, inPane: caller });
		const opened = JSON.parse(split.stdout);
		expect(opened).toMatchObject({ provider: "mine", server: null, command: "cat" });
		expect((await findPane(server.tmux, opened.pane))?.windowId).toBe((await findPane(server.tmux, caller))?.windowId);
		const other = await runAgentTmux(server, ["open", "--provider", "mine", "-L", server.name], {
			env,
			inPane: caller,
		});
		expect(other.stdout).toMatch(/^opened %\d+ \(provider mine\)\nserver: /);
		expect((await runAgentTmux(server, ["open", "--provider", "mine", "-L", "nobody"], { env })).code).toBe(3);
		expect((await runAgentTmux(server, ["open", "--provider", "none"], { env })).code).toBe(1);
	});
});
