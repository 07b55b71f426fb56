import { describe, expect, it } from "vitest";
import { formatAge, parseAgentState, reconcileState, rollUp } from "./agent-state.ts";
import { findAgent, type ProcessNode } from "./processes.ts";

const node = (comm: string, cmdline: string, children: ProcessNode[] = []): ProcessNode => {
	return { pid: 7, ppid: 1, comm, cmdline, isForeground: true, children };
};

describe("an agent's state", () => {
	it.each(["", "active", "idle:x", "bogus:1", "idle:1:0", "idle:1:-2", "idle:1:2:3", "idle:1.5", " idle:1"])(
		"is unknown for %j (T43)",
		(text) => {
			expect(parseAgentState(text)).toBeUndefined();
		},
	);

	it("has a word, a time and perhaps a process (T44)", () => {
		expect(parseAgentState("idle:5")).toEqual({ word: "idle", epoch: 5 });
		expect(parseAgentState("waiting:5:77")).toEqual({ word: "waiting", epoch: 5, pid: 77 });
	});

	it("is unknown when its process is dead, and holds for a process of another user (T45, T46)", async () => {
		const pane = { command: "node", pid: 1 };
		expect(await reconcileState({ word: "active", epoch: 1, pid: 2 ** 22 - 3 }, pane)).toBeUndefined();
		expect(await reconcileState({ word: "idle", epoch: 1, pid: 1 }, pane)).toMatchObject({ word: "idle" });
	});

	it("without a process is unknown in a pane that shows a shell, unless an agent runs below it (T47, T48)", async () => {
		const state = { word: "active", epoch: 1 } as const;
		const shell = { command: "bash", pid: 1 };
		expect(await reconcileState(state, shell, async () => node("bash", "bash"))).toBeUndefined();
		const wrapped = node("bash", "bash -c x", [node("node", "node /opt/bin/codex --yolo")]);
		expect(await reconcileState(state, shell, async () => wrapped)).toBe(state);
		expect(await reconcileState(state, { command: "node", pid: 1 })).toBe(state);
	});

	it.each([
		[59, "59s"],
		[60, "1m"],
		[3599, "59m"],
		[3600, "1h"],
		[-5, "0s"],
	])("of %i seconds ago shows %s (T52)", (seconds, text) => {
		expect(formatAge(seconds)).toBe(text);
	});

	it("rolls up to waiting before active before idle", () => {
		expect(rollUp(["idle", undefined, "active"])).toBe("active");
		expect(rollUp(["idle", "waiting", "active"])).toBe("waiting");
		expect(rollUp([undefined])).toBeUndefined();
	});
});

describe("finding an agent among processes", () => {
	it.each([
		["claude", "claude --x", "claude"],
		["kimi-code", "kimi-code", "kimi"],
		["node", "node /usr/lib/bin/gemini -y", "gemini"],
		["MainThread", "node --max-old-space-size=8000 /opt/qwen.js", "qwen"],
		["node", "node server.js", undefined],
		["vim", "vim codex", undefined],
	])("%s running %j is %s", (comm, cmdline, name) => {
		expect(findAgent({ comm, cmdline })).toBe(name);
	});
});
