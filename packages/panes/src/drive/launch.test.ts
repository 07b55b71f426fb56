import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findCli } from "../clis/index.ts";
import { fakeCommand, makeDrive, QUICK } from "../testing/fake-pane.ts";
import { launchFake } from "../testing/sessions.ts";
import { hasTmux, PrivateServer, until } from "../testing/tmux-server.ts";
import { knownFlags, type LaunchRequest, launchSession } from "./launch.ts";
import { readParent, readProcessTree, walkTree } from "./processes.ts";
import { endSession, listNames, peekSession, readStatus } from "./session.ts";

describe.skipIf(!hasTmux).concurrent("launching a session (needs tmux)", () => {
	let server: PrivateServer;
	beforeAll(() => {
		server = new PrivateServer();
	});
	afterAll(() => server[Symbol.asyncDispose]());

	const base = { timeoutMs: 30_000, size: { width: 100, height: 30 } };
	const launch = (request: Partial<LaunchRequest> & { name: string; words: readonly string[] }) =>
		launchSession(makeDrive(server), { ...base, ...request });

	it("returns when the agent takes input, in the asked size, and stores how to read it (T118)", async () => {
		const { name, view } = await launchFake(server, ["--style", "codex"], { size: { width: 220, height: 50 } });
		expect(view.verdict.word).toBe("ready");
		const asked = [
			"display-message",
			"-p",
			"-t",
			view.io.id,
			"#{@profile} #{window_width}x#{window_height} #{remain-on-exit}",
		];
		expect((await server.tmux.run(asked)).trim()).toMatch(/^codex 220x50/);
		expect(await readStatus(makeDrive(server), name)).toBe("idle");
	});

	it("reports a program that ends at once, with its output and the boot log (T119, R15)", async () => {
		const bootLog = join(server.folder, "boot.log");
		const words = ["sh", "-c", "echo TOKEN; exit 42"];
		await expect(launch({ name: "brief", words, bootLog })).rejects.toMatchObject({
			code: "died_at_start",
			message: expect.stringContaining(bootLog),
			snippet: expect.stringContaining("TOKEN"),
		});
		expect(readFileSync(bootLog, "utf8")).toContain("TOKEN");
		expect(statSync(bootLog).mode & 0o777).toBe(0o600);
		expect(await readStatus(makeDrive(server), "brief")).toBe("dead");
	});

	it("reports a program that ends after a while without ever showing its prompt (R15)", async () => {
		const words = ["sh", "-c", "echo loading; sleep 1; echo no conversation found; exit 1"];
		await expect(launch({ name: "later", words, profile: "codex" })).rejects.toMatchObject({
			code: "died_at_start",
			snippet: expect.stringContaining("no conversation found"),
		});
	});

	it("removes the session when its caller stops the launch", async () => {
		const stop = new AbortController();
		const words = ["sh", "-c", "echo loading; exec cat"];
		const drive = { ...makeDrive(server), signal: stop.signal };
		const launching = launchSession(drive, { ...base, name: "stopped", words, profile: "codex" });
		await until(async () => (await readStatus(makeDrive(server), "stopped")) !== "dead", "the session");
		stop.abort(new Error("told to stop"));
		await expect(launching).rejects.toThrow("told to stop");
		expect(await readStatus(makeDrive(server), "stopped")).toBe("dead");
	});

	it("gives up when the prompt is never seen and removes the session (T120)", async () => {
		const words = ["sh", "-c", "echo hello; exec cat"];
		const request = { name: "never", words, profile: "generic", ready: "NEVER-THERE", timeoutMs: 300 };
		await expect(launch(request)).rejects.toMatchObject({ code: "start_timeout" });
		expect(await readStatus(makeDrive(server), "never")).toBe("dead");
		await expect(launch({ ...request, keep: true })).rejects.toMatchObject({ code: "start_timeout" });
		expect(await readStatus(makeDrive(server), "never")).toBe("starting");
	});

	it("refuses a running session of the name unless it may replace it (T121)", async () => {
		const first = await launchFake(server, ["--style", "claude"], { name: "twice" });
		await expect(launchFake(server, ["--style", "claude"], { name: "twice" })).rejects.toMatchObject({
			code: "refused",
		});
		const second = await launchFake(server, ["--style", "claude"], { name: "twice", replace: true });
		expect(second.view.io.id).not.toBe(first.view.io.id);
	});

	it("refuses a one-shot command that takes no input (T122)", async () => {
		await expect(launch({ name: "once", words: ["codex", "exec", "x"] })).rejects.toThrow(/takes no further input/);
		await expect(launch({ name: "once", words: ["claude", "-p"] })).rejects.toMatchObject({ code: "refused" });
	});

	it("reports a trust wall as blocked and leaves it unanswered in a running session (T123, R13)", async () => {
		const args = ["--style", "claude", "--wall", "Do you trust the files in this folder?", "--wall-no"];
		await expect(launchFake(server, args, { name: "walled" })).rejects.toMatchObject({
			code: "blocked",
			message: expect.stringContaining("folder trust"),
		});
		expect(await readStatus(makeDrive(server), "walled")).toBe("blocked");
	});

	it("answers a wall that stands on No by moving to Yes when walls are accepted (T123)", async () => {
		const args = ["--style", "claude", "--wall", "Do you trust the files in this folder?", "--wall-no"];
		const { view, log } = await launchFake(server, args, { acceptWalls: true });
		expect(view.verdict.word).toBe("ready");
		expect(log.keys()).toEqual(["Up", "Enter"]);
	});

	it("waits until a slow wall shows the move instead of pressing again", async () => {
		const args = [
			"--style",
			"claude",
			"--wall",
			"Do you trust the files in this folder?",
			"--wall-no",
			"--wall-lag",
			"400",
		];
		const { log } = await launchFake(server, args, { acceptWalls: true });
		expect(log.keys()).toEqual(["Up", "Enter"]);
	});

	it("does not move the cursor of a wall that already stands on the wanted answer", async () => {
		const args = ["--style", "claude", "--wall", "Do you trust the files in this folder?"];
		const { log } = await launchFake(server, args, { acceptWalls: true });
		expect(log.keys()).toEqual(["Enter"]);
	});

	it.each([
		["codex", "Update available! 0.1 -> 0.2", "Skip|Update now"],
		["claude", "New MCP server found in .mcp.json", "Continue without it|Use it"],
	])(
		"dismisses the notice of %s %j, or leaves it to a person when told to (T123, R13)",
		async (style, wall, answers) => {
			const args = ["--style", style, "--wall", wall, "--wall-answers", answers, "--wall-no"];
			const { view, log } = await launchFake(server, args);
			expect([view.verdict.word, log.keys()]).toEqual(["ready", ["Up", "Enter"]]);
			const kept = fakeCommand(server, args);
			const request = { name: `kept-${style}`, words: kept.words, profile: style, keepNotices: true };
			await expect(launch(request)).rejects.toMatchObject({ code: "blocked" });
			expect(kept.log.keys()).toEqual([]);
		},
	);

	it("presses nothing at a menu that it does not know, also when walls are accepted (R13)", async () => {
		const { words, log } = fakeCommand(server, [
			"--style",
			"codex",
			"--wall",
			"Select a model",
			"--wall-answers",
			"a|b",
		]);
		const request = { name: "picker", words, profile: "codex", acceptWalls: true };
		await expect(launch(request)).rejects.toMatchObject({
			code: "blocked",
			snippet: expect.stringContaining("Select a model"),
		});
		expect(log.keys()).toEqual([]);
	});

	it("takes a permanent footer about bypassed permissions for no wall (T123)", async () => {
		const args = ["--style", "claude", "--footer", "  ⏵⏵ bypass permissions on (shift+tab to cycle) · ← for agents"];
		const { view, log } = await launchFake(server, args, { acceptWalls: true });
		expect([view.verdict.word, log.keys()]).toEqual(["ready", []]);
	});

	it("starts ten sessions with similar names at once, each in its own pane (R17)", async () => {
		const names = ["a", "ab", "abc", "abcd", "b", "ba", "bab", "c", "ca", "cab"];
		const words = ["sh", "-c", "echo up; exec cat"];
		const views = await Promise.all(names.map((name) => launch({ name: `p-${name}`, words, profile: "generic" })));
		expect(new Set(views.map((view) => view.io.id)).size).toBe(names.length);
		expect(await listNames(makeDrive(server))).toEqual(expect.arrayContaining(names.map((name) => `p-${name}`)));
	});

	it("lists and ends sessions under a prefix with a slash (T42)", async () => {
		const drive = { ...makeDrive(server), env: { ...server.env, AGENT_TMUX_PREFIX: "ivue/" } };
		await launchSession(drive, { ...base, name: "one", words: ["sh", "-c", "echo up; exec cat"] });
		expect(await listNames(drive)).toEqual(["one"]);
		expect(await endSession(drive, "one")).toBe(true);
		expect(await endSession(drive, "one")).toBe(false);
	});

	it.each(["a.b", "a:b", "a b", "-a"])("refuses the name %j without making a session (T41, R17)", async (name) => {
		await expect(launch({ name, words: ["cat"] })).rejects.toMatchObject({ code: "usage" });
	});

	it("keeps special characters of the command's words", async () => {
		const words = ["sh", "-c", 'printf "[%s]" "$@"; exec cat', "sh", "two words", "$(x);", "it's"];
		const view = await launch({ name: "words", words, profile: "generic", ready: "it" });
		expect(await view.io.tail(3)).toBe("[two words][$(x);][it's]");
	});

	it("adds --no-daemon for a codex that knows it and for no other program", async () => {
		const folder = join(server.folder, "bin");
		mkdirSync(folder, { recursive: true });
		writeFileSync(join(folder, "codex"), "#!/bin/sh\necho '  --no-daemon  stay in the foreground'\n");
		chmodSync(join(folder, "codex"), 0o755);
		const drive = makeDrive(server);
		expect(await knownFlags(drive, findCli("codex"), [join(folder, "codex")])).toEqual(["--no-daemon"]);
		expect(await knownFlags(drive, findCli("codex"), [join(folder, "codex"), "--no-daemon"])).toEqual([]);
		expect(await knownFlags(drive, findCli("codex"), ["cat"])).toEqual([]);
	});

	it("ends with a session the processes that tmux does not reach", async () => {
		const words = ["sh", "-c", "trap '' HUP; (trap '' HUP TERM; sleep 600) & echo up; wait"];
		const view = await launch({ name: "stubborn", words, profile: "generic", ready: "up" });
		const tree = await readProcessTree(view.frame.info.pid);
		const pids = tree === undefined ? [] : [...walkTree(tree)].map((node) => node.pid);
		expect(pids.length).toBeGreaterThan(1);
		expect(await endSession({ ...makeDrive(server), timings: { ...QUICK, ending: 300 } }, "stubborn")).toBe(true);
		const alive = await Promise.all(pids.map(async (pid) => (((await readParent(pid))?.isZombie ?? true) ? 0 : pid)));
		expect(alive.filter((pid) => pid > 0)).toEqual([]);
	});

	it("gives opencode a free port of its own, unless the caller names one", async () => {
		const folder = join(server.folder, "open");
		mkdirSync(folder, { recursive: true });
		writeFileSync(join(folder, "opencode"), '#!/bin/sh\necho "args: $*"\nexec cat\n', { mode: 0o755 });
		const program = join(folder, "opencode");
		const ready = { ready: "args" };
		const view = await launch({ name: "port", words: [program, "--auto"], ...ready });
		expect(await view.io.tail(3)).toMatch(/^args: --port [1-9]\d+ --auto$/);
		const own = await launch({ name: "own-port", words: [program, "--port=7"], ...ready });
		expect(await own.io.tail(3)).toBe("args: --port=7");
	});

	it("peeks at the last rows without blanks and refuses an unknown session (T140)", async () => {
		const words = ["sh", "-c", "printf '1  \\n2\\n3\\n4\\n5\\n6'; exec cat"];
		await launch({ name: "rows", words, profile: "generic", ready: "6" });
		expect(await peekSession(makeDrive(server), "rows", 5)).toBe("2\n3\n4\n5\n6");
		await expect(peekSession(makeDrive(server), "row", 5)).rejects.toMatchObject({ code: "session_missing" });
	});
});
