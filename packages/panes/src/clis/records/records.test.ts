import {
	appendFileSync,
	closeSync,
	mkdirSync,
	mkdtempSync,
	openSync,
	rmSync,
	symlinkSync,
	writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { claudeRecord } from "./claude.ts";
import { codexRecord } from "./codex.ts";
import { copilotRecord } from "./events.ts";
import { geminiRecord } from "./gemini.ts";
import { opencodeRecord } from "./opencode.ts";
import { piRecord } from "./pi.ts";
import type { RecordPlace } from "./record.ts";

let home: string;
beforeEach(() => {
	home = mkdtempSync(join(tmpdir(), "records-"));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

function place(cwd: string, more: Partial<RecordPlace> = {}): RecordPlace {
	return { cwd, pids: [], cmdlines: [], env: { HOME: home }, ...more };
}

function writeLines(path: string, ...entries: object[]): string {
	mkdirSync(join(path, ".."), { recursive: true });
	appendFileSync(path, entries.map((entry) => `${JSON.stringify(entry)}\n`).join(""));
	return path;
}

describe("the Codex record", () => {
	const rollout = (name: string) => join(home, ".codex", "sessions", "2026", "11", "30", `rollout-${name}.jsonl`);
	const meta = (cwd: string, extra: object = {}) => ({ type: "session_meta", payload: { id: "abc", cwd, ...extra } });
	const event = (type: string) => ({ type: "event_msg", payload: { type } });

	it("is found by the folder in its first line, also through a symbolic link and after a long first line", async () => {
		mkdirSync(join(home, "work"));
		symlinkSync(join(home, "work"), join(home, "link"));
		const path = writeLines(rollout("a"), meta(join(home, "work"), { instructions: "x".repeat(20_000) }));
		expect(await codexRecord.find(place(join(home, "link")))).toBe(path);
		expect(await codexRecord.sessionId?.(path)).toBe("abc");
	});

	it("is not the record of another session that only mentions the folder", async () => {
		writeLines(rollout("b"), meta("/home/user/other"), { payload: { type: "message", text: home } });
		expect(await codexRecord.find(place(home))).toBeUndefined();
	});

	it("says busy from the start of a turn to its end or its interruption", async () => {
		const path = writeLines(rollout("c"), meta(home));
		expect(await codexRecord.read(path)).toBeUndefined();
		writeLines(path, event("task_started"), event("token_count"));
		expect(await codexRecord.read(path)).toBe("busy");
		writeLines(path, event("task_complete"), event("token_count"));
		expect(await codexRecord.read(path)).toBe("idle");
		writeLines(path, event("task_started"), event("turn_aborted"));
		expect(await codexRecord.read(path)).toBe("idle");
	});

	it("ignores a line that is still being written", async () => {
		const path = writeLines(rollout("d"), meta(home), event("task_started"));
		appendFileSync(path, '{"type":"event_msg","payload":{"type":"task_complete"}}');
		expect(await codexRecord.read(path)).toBe("busy");
	});
});

describe("the Claude record", () => {
	it("is the status file of the pane's process", async () => {
		const path = writeLines(join(home, ".claude", "sessions", "42.json"), { status: "busy", sessionId: "s-1" });
		expect(await claudeRecord.find(place(home, { pids: [41, 42] }))).toBe(path);
		expect(await claudeRecord.read(path)).toBe("busy");
		expect(await claudeRecord.sessionId?.(path)).toBe("s-1");
		writeFileSync(path, '{"status":"waiting","waitingFor":"permission prompt"}');
		expect(await claudeRecord.read(path)).toBe("waiting");
		expect(await claudeRecord.find(place(home, { pids: [43] }))).toBeUndefined();
	});
});

describe("the pi record", () => {
	it("says busy after a message or a tool call and idle after the last reply", async () => {
		const path = join(home, ".pi", "agent", "sessions", "--home-user-app--", "2026_x.jsonl");
		writeLines(path, { type: "session", id: "p-1" }, { type: "message", message: { role: "user" } });
		expect(await piRecord.find(place("/home/user/app"))).toBe(path);
		expect(await piRecord.read(path)).toBe("busy");
		writeLines(path, { type: "message", message: { role: "assistant", stopReason: "toolUse" } });
		expect(await piRecord.read(path)).toBe("busy");
		writeLines(path, { type: "message", message: { role: "assistant", stopReason: "stop" } });
		expect(await piRecord.read(path)).toBe("idle");
	});
});

describe("the Gemini record", () => {
	const chats = () => join(home, ".gemini", "tmp", "app-2", "chats");

	it("is the newest session in the folder that the list of projects names", async () => {
		writeLines(join(home, ".gemini", "projects.json"), {
			projects: { "/home/user/app": "app-2", "/home/user": "user" },
		});
		expect(await geminiRecord.find(place("/home/user/app"))).toBeUndefined();
		const path = writeLines(join(chats(), "session-1.jsonl"), { sessionId: "s", kind: "main" });
		expect(await geminiRecord.find(place("/home/user/app"))).toBe(path);
		expect(await geminiRecord.find(place("/home/user/other"))).toBeUndefined();
	});

	it("says idle after a reply without tool calls and nothing in a turn, whose interruption leaves no sign", async () => {
		const path = writeLines(join(chats(), "session-1.jsonl"), { sessionId: "s" }, { type: "user", content: [] });
		expect(await geminiRecord.read(path)).toBeUndefined();
		writeLines(path, { type: "gemini", content: "", toolCalls: [{ id: "c" }] });
		expect(await geminiRecord.read(path)).toBeUndefined();
		writeLines(path, { type: "gemini", content: "done" }, { $set: { lastUpdated: "2026-11-30T07:00:00Z" } });
		expect(await geminiRecord.read(path)).toBe("idle");
	});
});

describe("an event log", () => {
	it("is found by the process that holds it open and read by its last event", async () => {
		const path = join(home, "session-state", "id", "events.jsonl");
		writeLines(path, { type: "assistant.turn_start" }, { type: "tool" });
		expect(await copilotRecord.find(place(home, { pids: [process.pid] }))).toBeUndefined();
		const file = openSync(path, "a");
		expect(await copilotRecord.find(place(home, { pids: [process.pid] }))).toBe(path);
		closeSync(file);
		expect(await copilotRecord.read(path)).toBe("busy");
		writeLines(path, { type: "permission.requested" });
		expect(await copilotRecord.read(path)).toBe("waiting");
	});
});

describe("the OpenCode record", () => {
	it("is asked at the port of the command line", async () => {
		let states: object = {};
		const server = createServer((_request, response) => response.end(JSON.stringify(states)));
		await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
		const { port } = server.address() as AddressInfo;
		const source = await opencodeRecord.find(place(home, { cmdlines: [`opencode --port ${port} --auto`] }));
		expect(await opencodeRecord.read(source ?? "")).toBe("idle");
		states = { ses_1: { type: "busy" } };
		expect(await opencodeRecord.read(source ?? "")).toBe("busy");
		await new Promise((resolve) => server.close(resolve));
		expect(await opencodeRecord.read(source ?? "")).toBeUndefined();
		expect(await opencodeRecord.find(place(home, { cmdlines: ["opencode --auto"] }))).toBeUndefined();
	});
});
