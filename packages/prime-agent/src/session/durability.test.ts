import { existsSync, fdatasync, ftruncateSync, mkdtempSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { obj, str } from "@earendil-works/pi-schema";
import { reply, waitFor } from "@prime-agent/testkit";
import { expect, test } from "vitest";
import { makeFolder } from "../platform/folder.ts";
import { sendPrompt } from "../protocol/session-operations.ts";
import { defineFeature } from "./host.ts";
import { SessionLog } from "./log.ts";
import { createFileStore, type Disk, openFileStore } from "./storage.ts";
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

/** A real disk that writes down what is asked of it; `keep` may hold or fail its n-th sync. */
function recordingDisk(keep: (sync: number) => Promise<void> = () => Promise.resolve()) {
	const steps: string[] = [];
	let syncs = 0;
	const disk: Disk = {
		writeSync(fd, bytes, offset, length) {
			steps.push(`write ${bytes.toString("utf8").trimEnd().split("\n").map(nameLine).join("+")}`);
			return writeSync(fd, bytes, offset, length);
		},
		ftruncateSync,
		fdatasync(fd, done) {
			steps.push("sync");
			keep(syncs++).then(() => fdatasync(fd, done), done);
		},
	};
	const file = join(mkdtempSync(join(tmpdir(), "durable-")), "a.jsonl");
	return { store: createFileStore(file, makeFolder, disk), steps };
}

/** Runs a prompt with a call, on a disk whose n-th sync is held until somebody calls `release` or `fail`. */
function runWithHeldSync(held: number, steps = [call("one"), reply({ text: "done" })]) {
	const { promise, resolve, reject } = Promise.withResolvers<void>();
	const { store, steps: asked } = recordingDisk((sync) => (sync === held ? promise : Promise.resolve()));
	const bench = openBench({ store, features: [echo], steps });
	const told = () => bench.events.flatMap((event) => (event.type === "message_end" ? [event.message.role] : []));
	return { bench, steps: asked, told, said: bench.say("go"), release: resolve, fail: reject };
}

/** Lets work go on that waits for nothing outside of this process. */
async function settle(): Promise<void> {
	for (let round = 0; round < 50; round++) await new Promise((resolve) => setImmediate(resolve));
}

test("a user's message, a tool's result and the end of a run are kept by the disk; each append is one write", async () => {
	const { store, steps } = recordingDisk();
	const bench = openBench({ store, features: [echo], steps: [call("one"), reply({ text: "done" })] });
	await bench.say("go");
	expect(steps).toEqual([
		"write session+user",
		"sync",
		"write assistant",
		"write toolResult",
		"sync",
		"write assistant",
		"sync",
	]);
});

test("a user's message is on disk before the model is asked", async () => {
	const { bench, steps, said, release } = runWithHeldSync(0);
	await settle();
	expect({ steps, asked: bench.model.calls.length }).toEqual({
		steps: ["write session+user", "sync"],
		asked: 0,
	});
	release();
	expect(await said).toMatchObject({ stage: "completed" });
});

test("the model is asked while the disk keeps a tool's result, and its reply counts only when that is kept", async () => {
	const { bench, steps, told, said, release } = runWithHeldSync(1);
	await bench.model.waitForCalls(2);
	await settle();
	const begun = steps.filter((step) => step.startsWith("write"));
	expect({ begun, told: told() }).toEqual({
		begun: ["write session+user", "write assistant", "write toolResult"],
		told: ["user", "assistant", "toolResult"],
	});
	release();
	expect(await said).toMatchObject({ stage: "completed" });
	expect(told()).toEqual(["user", "assistant", "toolResult", "assistant"]);
});

test("a reply to a tool's result that the disk could not keep is not acted upon, and the run fails with the reason", async () => {
	const { bench, told, said, fail } = runWithHeldSync(1);
	await bench.model.waitForCalls(2);
	fail(new Error("EIO: i/o error"));
	expect(await said).toMatchObject({ stage: "failed", error: expect.stringContaining("EIO") });
	expect(told()).toEqual(["user", "assistant", "toolResult"]);
});

test("a result that the disk could not keep fails the run, whatever the disk says of the results after it", async () => {
	const two = [1, 2].map((n) => ({ name: "echo", arguments: { text: `${n}` } }));
	const { store } = recordingDisk((sync) =>
		sync === 1 ? Promise.reject(new Error("EIO: i/o error")) : Promise.resolve(),
	);
	const bench = openBench({ store, features: [echo], steps: [reply({ calls: two }), reply({ text: "done" })] });
	expect(await bench.say("go")).toMatchObject({ stage: "failed", error: expect.stringContaining("EIO") });
	expect(bench.events.flatMap((event) => (event.type === "message_end" ? [event.message.role] : []))).toEqual([
		"user",
		"assistant",
		"toolResult",
		"toolResult",
	]);
});

test("who steers is told that the turn is over only when its results are on disk", async () => {
	const { bench, told, said, release } = runWithHeldSync(3, STEPS);
	const steered = bench.session.call(sendPrompt.name, { text: "quick", lane: "steer", until: "done" }, "client");
	await bench.model.waitForCalls(2);
	await waitFor(() => told().filter((role) => role === "toolResult").length === 2, "the second result");
	expect(await Promise.race([steered, settle()])).toBeUndefined();
	release();
	expect(await steered).toMatchObject({ stage: "completed" });
	expect(await said).toMatchObject({ stage: "completed" });
});

test("who waits for a run is told only when its last reply is on disk", async () => {
	const { told, said, release } = runWithHeldSync(2);
	await waitFor(() => told().length === 4, "the last reply");
	expect(await Promise.race([said, settle()])).toBeUndefined();
	release();
	expect(await said).toMatchObject({ stage: "completed" });
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
