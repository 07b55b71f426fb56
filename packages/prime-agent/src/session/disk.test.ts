import { fdatasync, ftruncateSync, mkdtempSync, readFileSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeFolder } from "../platform/folder.ts";
import { SessionLog } from "./log.ts";
import { createFileStore, type Disk, openFileStore } from "./storage.ts";
import { HEADER } from "./testing/harness.ts";

const user = (content: string) => ({ type: "message", message: { role: "user", content, timestamp: 1 } });

/** A real disk that, while it is `bad`, takes only some bytes of a write and lets nothing be taken back. */
function badDisk() {
	const state = { bad: false, taken: 25, syncs: 0, failingSyncs: 0 };
	const fail = (code: string) => {
		throw Object.assign(new Error(`${code}: no`), { code });
	};
	const disk: Disk = {
		writeSync(fd, bytes, offset, length) {
			if (!state.bad) return writeSync(fd, bytes, offset, length);
			if (offset > 0 || state.taken === 0) fail("ENOSPC");
			return writeSync(fd, bytes, offset, Math.min(length, state.taken));
		},
		ftruncateSync: (fd, size) => (state.bad ? fail("EIO") : ftruncateSync(fd, size)),
		fdatasync(fd, done) {
			state.syncs += 1;
			if (state.failingSyncs-- > 0) setImmediate(done, Object.assign(new Error("EIO: no"), { code: "EIO" }));
			else fdatasync(fd, done);
		},
	};
	return { disk, state };
}

function textsOf(log: SessionLog): unknown[] {
	return log.branch(new Set(["message"])).map(({ message }) => (message as { content: string }).content);
}

function setUp() {
	const { disk, state } = badDisk();
	const file = join(mkdtempSync(join(tmpdir(), "disk-")), "a.jsonl");
	return { file, state, log: SessionLog.create(HEADER, createFileStore(file, makeFolder, disk)) };
}

const reopen = (file: string) => SessionLog.open(openFileStore(file), HEADER);

test("what a failed write leaves is gone before the next append, even when it could not be taken back at once", () => {
	const { file, state, log } = setUp();
	log.append([user("one")]);
	state.bad = true;
	for (let time = 0; time < 3; time++)
		expect(() => log.append([user("lost")])).toThrow(/cannot be written|disk is full/);
	state.bad = false;
	log.append([user("two")]);
	expect(textsOf(log)).toEqual(["one", "two"]);
	log.close();
	const after = reopen(file);
	expect({ texts: textsOf(after), broken: after.broken }).toEqual({ texts: ["one", "two"], broken: [] });
});

test("as long as it is there nothing is written behind it, and a restart sets it aside and loses nothing", () => {
	const { file, state, log } = setUp();
	log.append([user("one")]);
	const sound = readFileSync(file);
	state.bad = true;
	expect(() => log.append([user("lost")])).toThrow(expect.objectContaining({ code: "storage_full" }));
	expect(() => log.append([user("lost")])).toThrow(expect.objectContaining({ code: "storage_failed" }));
	expect(readFileSync(file)).toHaveLength(sound.length + state.taken);
	expect(textsOf(log)).toEqual(["one"]);
	log.close();
	const after = reopen(file);
	expect(after.broken.map(({ reason }) => reason)).toEqual([`its last ${state.taken} bytes were cut off`]);
	after.append([user("two")]);
	after.close();
	expect(textsOf(reopen(file))).toEqual(["one", "two"]);
});

test("a first write that fails in the middle leaves a session that can still be started", () => {
	const { file, state, log } = setUp();
	state.bad = true;
	expect(() => log.append([user("one")])).toThrow(expect.objectContaining({ code: "storage_full" }));
	state.bad = false;
	log.append([user("two")]);
	log.close();
	expect(textsOf(reopen(file))).toEqual(["two"]);
});

test("a disk is asked to keep what was written once, and again only for what came after that began", async () => {
	const { log, state } = setUp();
	log.append([user("one")]);
	await Promise.all([log.sync(), log.sync()]);
	await log.sync();
	expect(state.syncs).toBe(1);
	log.append([user("two")]);
	const running = log.sync();
	log.append([user("three")]);
	await Promise.all([running, log.sync()]);
	expect(state.syncs).toBe(3);
});

test("a sync that failed is said to everybody who waits for it, and the next one tries again", async () => {
	const { log, state } = setUp();
	log.append([user("one")]);
	state.failingSyncs = 1;
	const both = await Promise.allSettled([log.sync(), log.sync()]);
	expect(both.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
	await log.sync();
	expect(state.syncs).toBe(2);
});
