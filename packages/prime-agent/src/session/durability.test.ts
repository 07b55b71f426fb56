import { existsSync, fdatasync, ftruncateSync, mkdtempSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { obj, str } from "@earendil-works/pi-schema";
import { reply } from "@prime-agent/testkit";
import { expect, test } from "vitest";
import { makeFolder } from "../platform/folder.ts";
import { defineFeature } from "./host.ts";
import { SessionLog } from "./log.ts";
import { createFileStore, createMemoryStore, type Disk, openFileStore, type SessionStore } from "./storage.ts";
import { HEADER, openBench } from "./testing/harness.ts";

/** A tool that says again what it was given. */
const echo = defineFeature({
	name: "echo",
	setup: (host) =>
		host.registerTool({
			name: "echo",
			label: "Echo",
			description: "Says it again",
			parameters: obj({ text: str() }),
			execute: async (_id, params) => ({
				content: [{ type: "text", text: (params as { text: string }).text }],
				details: {},
			}),
		}),
});

const call = (text: string) => reply({ text: `I call ${text}`, calls: [{ name: "echo", arguments: { text } }] });
const STEPS = [call("one"), call("two"), reply({ text: "done" })];

/** Which message a line holds, or which kind of entry. */
function nameLine(line: string): string {
	const { type, message } = JSON.parse(line) as { type: string; message?: { role: string } };
	return message?.role ?? type;
}

test("a user's message, a tool's result and the end of a turn are on disk before the work goes on; each append is one write", async () => {
	const memory = createMemoryStore();
	const steps: string[] = [];
	const store: SessionStore = {
		file: undefined,
		get size() {
			return memory.size;
		},
		append(lines, options) {
			const names = lines.toString("utf8").trimEnd().split("\n").map(nameLine);
			steps.push(`${options?.hold ? "hold" : "write"} ${names.join("+")}`);
			return memory.append(lines);
		},
		read: (offset, length) => memory.read(offset, length),
		readText: (offset, length) => memory.readText(offset, length),
		sync: async () => void steps.push("sync"),
		close: () => memory.close(),
	};
	const bench = openBench({ store, features: [echo], steps: [call("one"), reply({ text: "done" })] });
	await bench.say("go");
	expect(steps).toEqual([
		"hold session",
		"write user",
		"sync",
		"write assistant",
		"write toolResult",
		"sync",
		"sync",
		"write assistant",
		"sync",
	]);
});

/** A real disk whose n-th write is cut in the middle: `once`, or from then on for ever and with nothing taken back. */
function failingDisk(
	failAt: number,
	how: "once" | "for ever",
): { readonly disk: Disk; readonly hasFailed: () => boolean } {
	let writes = 0;
	let hasFailed = false;
	const isDead = () => hasFailed && how === "for ever";
	const fail = () => {
		throw Object.assign(new Error("EIO: i/o error"), { code: "EIO" });
	};
	return {
		hasFailed: () => hasFailed,
		disk: {
			writeSync(fd, bytes, offset, length) {
				if (isDead()) return fail();
				if (writes++ !== failAt) return writeSync(fd, bytes, offset, length);
				hasFailed = true;
				writeSync(fd, bytes, offset, Math.ceil(length / 2));
				return fail();
			},
			ftruncateSync: (fd, size) => (isDead() ? fail() : ftruncateSync(fd, size)),
			fdatasync,
		},
	};
}

const messagesOf = (log: SessionLog) => log.branch(new Set(["message"])).map(({ message }) => message);

test.each(["once", "for ever"] as const)(
	"whichever write fails (%s), nothing that was told is lost, the run fails with the reason and the session goes on",
	async (how) => {
		let failures = 0;
		for (let failAt = 0; ; failAt++) {
			const file = join(mkdtempSync(join(tmpdir(), "durable-")), "a.jsonl");
			const { disk, hasFailed } = failingDisk(failAt, how);
			const log = SessionLog.create(HEADER, createFileStore(file, makeFolder, disk));
			const bench = openBench({ log, features: [echo], steps: STEPS });
			const outcome = await bench.say("go");
			const told = bench.events.flatMap((event) => (event.type === "message_end" ? [event.message] : []));
			await bench.session.dispose();
			if (!hasFailed()) {
				expect(outcome).toMatchObject({ stage: "completed" });
				break;
			}
			failures++;
			expect({ failAt, ...outcome }).toMatchObject({ failAt, stage: "failed", error: expect.stringContaining("EIO") });
			if (!existsSync(file)) {
				expect({ failAt, told }).toEqual({ failAt, told: [] });
				continue;
			}
			const reopened = SessionLog.open(openFileStore(file), HEADER);
			expect({ failAt, messages: messagesOf(reopened) }).toEqual({
				failAt,
				messages: JSON.parse(JSON.stringify(told)),
			});
			// The model of the bench refuses transcripts that a strict server would.
			const next = openBench({ log: reopened, features: [echo], steps: [reply({ text: "here again" })] });
			expect(await next.say("and now?")).toMatchObject({ stage: "completed" });
			await next.session.dispose();
			const after = SessionLog.open(openFileStore(file), HEADER);
			expect(messagesOf(after)).toHaveLength(told.length + 2);
			expect(after.broken).toEqual([]);
			after.close();
		}
		expect(failures).toBe(6);
	},
);
