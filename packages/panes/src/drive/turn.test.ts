import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { HOOKS, makeDrive } from "../testing/fake-pane.ts";
import { launchFake } from "../testing/sessions.ts";
import { hasTmux, PrivateServer, until } from "../testing/tmux-server.ts";
import { Tmux } from "../tmux/server.ts";
import { interruptSession } from "./interrupt.ts";
import { endSession, readStatus } from "./session.ts";
import { sendToSession } from "./session-send.ts";
import { combine, readTurnState } from "./turn.ts";
import { sendAndWait, waitForIdle } from "./wait.ts";

describe("joining screen, record and hook", () => {
	it.each([
		["busy", "idle", "idle", "busy"],
		["idle", "idle", null, "idle"],
		["idle", "quiet", null, "idle"],
		["idle", "grew", "idle", "busy"],
		["idle", "busy", null, "busy"],
		["idle", "unknown", null, "idle-unconfirmed"],
		["idle", "unknown", "idle", "idle"],
		["idle", "unknown", "active", "busy"],
		["idle", "unknown", "waiting", "busy"],
		["idle", "waiting", null, "blocked"],
		["blocked", "busy", null, "blocked"],
		["unknown", "idle", "idle", "unknown"],
		["unknown", "busy", null, "busy"],
		["dead", "busy", "active", "dead"],
	] as const)("screen %s, record %s, hook %s is %s", (screen, record, hook, word) => {
		expect(combine(screen, record, hook)).toBe(word);
	});
});

describe.skipIf(!hasTmux).concurrent("the turn state of a session (needs tmux)", () => {
	let server: PrivateServer;
	beforeAll(() => {
		server = new PrivateServer();
	});
	afterAll(() => server[Symbol.asyncDispose]());

	/** A session in a folder of its own, so that its rollout is the only one of that folder. */
	async function launch(args: string[], style = "codex") {
		const cwd = join(server.folder, `work-${Math.random().toString(36).slice(2)}`);
		mkdirSync(cwd);
		return { ...(await launchFake(server, ["--style", style, ...args], { cwd })), cwd, drive: makeDrive(server) };
	}

	function writeRollout(name: string, ...lines: object[]): string {
		const folder = join(server.folder, ".codex", "sessions", "2026", "07", "29");
		mkdirSync(folder, { recursive: true });
		const path = join(folder, `rollout-${name}.jsonl`);
		appendFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
		return path;
	}

	it("is busy when the screen is idle but the record grows (T126)", async () => {
		const { name, cwd, drive } = await launch([]);
		const path = writeRollout("growing", { type: "session_meta", payload: { cwd } });
		const timer = setInterval(() => appendFileSync(path, "{}\n"), 20);
		const state = await readTurnState(drive, name);
		clearInterval(timer);
		expect(state).toMatchObject({ state: "busy", screen: "idle", producer: "grew", path });
		expect(state.sizes[1]).toBeGreaterThan(state.sizes[0]!);
	});

	it("is idle when the screen is idle and the record is quiet (T127)", async () => {
		const { name, drive } = await launch(["--rollout", "grow"]);
		expect(await readTurnState(drive, name)).toMatchObject({ state: "idle", producer: "quiet" });
	});

	it("is idle-unconfirmed without a record, also when another session's record names the folder in its text (T128, T129)", async () => {
		const { name, cwd, drive } = await launch([]);
		const path = writeRollout("other", { type: "session_meta", payload: { cwd: "/home/user/other" } }, { text: cwd });
		const timer = setInterval(() => appendFileSync(path, `{"text":"${cwd}"}\n`), 20);
		const state = await readTurnState(drive, name);
		clearInterval(timer);
		expect(state).toMatchObject({ state: "idle-unconfirmed", producer: "unknown", path: null });
	});

	it("needs no window and at most three tmux calls where the record states the end of a turn", async () => {
		const { name, log, drive } = await launch(["--rollout", "events"]);
		await sendToSession(drive, name, "hello");
		await until(() => log.entries().some((entry) => entry.type === "turn-end"), "the turn's end");
		await until(async () => (await readStatus(drive, name)) === "idle", "the screen");
		const tmux = new Tmux(server.tmux.address, { env: server.env });
		const state = await readTurnState({ ...drive, tmux }, name, 3_600_000);
		expect(state).toMatchObject({ state: "idle", producer: "idle", sizes: [] });
		expect(tmux.calls).toBeLessThanOrEqual(3);
	});

	it("is busy during a turn and the footer of a background terminal counts as busy (T124)", async () => {
		const { name, drive } = await launch(["--turn-forever"]);
		await sendToSession(drive, name, "work");
		await until(async () => (await readStatus(drive, name)) === "busy", "the turn");
		expect(await readTurnState(drive, name)).toMatchObject({ state: "busy" });
	});

	it("takes the hook's word when there is no record", async () => {
		const { name, view, log, drive } = await launch(["--hooks", HOOKS]);
		await sendToSession(drive, name, "hello");
		await until(() => log.entries().some((entry) => entry.type === "turn-end"), "the turn's end");
		await until(async () => (await readTurnState(drive, name)).hook === "idle", "the hook");
		expect(await readTurnState(drive, name)).toMatchObject({ state: "idle", hook: "idle", pane: view.io.id });
	});

	it("reads Claude's status file by the pane's process", async () => {
		const { name, view, drive } = await launch([], "claude");
		const folder = join(server.folder, ".claude", "sessions");
		mkdirSync(folder, { recursive: true });
		const path = join(folder, `${view.frame.info.pid}.json`);
		writeFileSync(path, '{"status":"busy"}');
		expect(await readTurnState(drive, name)).toMatchObject({ state: "busy", producer: "busy", path });
		writeFileSync(path, '{"status":"waiting"}');
		expect(await readTurnState(drive, name)).toMatchObject({ state: "blocked", producer: "waiting" });
		writeFileSync(path, '{"status":"idle"}');
		expect(await readTurnState(drive, name)).toMatchObject({ state: "idle", producer: "idle" });
	});

	it("is dead without a session", async () => {
		expect(await readTurnState(makeDrive(server), "nobody")).toMatchObject({ state: "dead", pane: null });
	});

	it("a wait ends with idle after the turn, with timeout in it and with dead when the session goes (T139)", async () => {
		const { name, log, drive, view } = await launch(["--rollout", "events", "--turn-forever"]);
		await sendToSession(drive, name, "hello");
		await until(async () => (await readStatus(drive, name)) === "busy", "the turn");
		const ending = waitForIdle(drive, name, { capMs: 50_000 });
		await view.io.press("Escape");
		expect(await ending).toBe("idle");
		expect(log.entries().some((entry) => entry.type === "turn-end")).toBe(true);
		await sendToSession(drive, name, "again");
		await until(async () => (await readStatus(drive, name)) === "busy", "the turn");
		expect(await waitForIdle(drive, name, { capMs: 0 })).toBe("timeout");
		const waiting = waitForIdle(drive, name, { capMs: 30_000 });
		await endSession(drive, name, { force: true });
		expect(await waiting).toBe("dead");
	});

	it("a wait does not end with a single idle look between two turns", async () => {
		const { name, view, drive } = await launch([], "claude");
		const folder = join(server.folder, ".claude", "sessions");
		mkdirSync(folder, { recursive: true });
		const path = join(folder, `${view.frame.info.pid}.json`);
		const write = (status: string) => writeFileSync(path, JSON.stringify({ status }));
		write("idle");
		const later = ["busy", "idle", "idle"];
		const clock = { now: () => 0, sleep: async () => write(later.shift() ?? "idle") };
		expect(await waitForIdle({ ...drive, clock }, name, { capMs: 1000 })).toBe("idle");
		expect(later).toEqual([]);
	});

	it("a wait ends with blocked when the agent asks a person", async () => {
		const { name, drive } = await launch(["--ask"], "claude");
		await sendToSession(drive, name, "may I");
		expect(await waitForIdle(drive, name, { capMs: 30_000 })).toBe("blocked");
	});

	it("send and wait returns the answer of the turn it started (T137)", async () => {
		const { name, drive } = await launch(["--rollout", "events", "--turn", "600"]);
		const result = await sendAndWait(drive, name, "question", { capMs: 30_000, lines: 40 });
		expect(result).toMatchObject({
			sent: "submitted",
			waited: "idle",
			reply: expect.stringContaining("answer 1 to question"),
		});
	});

	it("send and wait returns the screen although the turn outlasts the cap", async () => {
		const { name, drive } = await launch(["--turn-forever"]);
		const result = await sendAndWait(drive, name, "question", { capMs: 100, lines: 40 });
		expect(result).toMatchObject({ waited: "timeout", reply: expect.stringContaining("question") });
	});

	it("an interrupt stops a running turn and presses nothing when none runs", async () => {
		const { name, log, drive } = await launch(["--turn-forever"]);
		expect(await interruptSession(drive, name)).toEqual({ isInterrupted: false, state: "idle-unconfirmed" });
		expect(log.keys()).toEqual([]);
		await sendToSession(drive, name, "work");
		await until(async () => (await readStatus(drive, name)) === "busy", "the turn");
		expect(await interruptSession(drive, name)).toEqual({ isInterrupted: true, state: "idle-unconfirmed" });
		expect(log.keys()).toEqual(["Enter", "Escape"]);
	});

	it("a busy session is ended only by force", async () => {
		const { name, drive } = await launch(["--turn-forever"]);
		await sendToSession(drive, name, "work");
		await until(async () => (await readStatus(drive, name)) === "busy", "the turn");
		await expect(endSession(drive, name)).rejects.toMatchObject({ code: "refused" });
		expect(await endSession(drive, name, { force: true })).toBe(true);
	});
});
