import { appendFileSync, existsSync, mkdtempSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeFolder } from "../platform/folder.ts";
import type { Entry } from "../protocol/entry.ts";
import { SessionLog } from "./log.ts";
import { createFileStore, openFileStore } from "./storage.ts";
import { HEADER } from "./testing/harness.ts";

const user = (text: string) => ({ type: "message", message: { role: "user", content: text, timestamp: 1 } });
const textOf = (entry: Entry) => (entry.message as { content: string }).content;

function newFile(): string {
	return join(mkdtempSync(join(tmpdir(), "session-")), "sessions", "a.jsonl");
}

function writeSession(texts: readonly string[]): string {
	const file = newFile();
	const log = SessionLog.create(HEADER, createFileStore(file, makeFolder));
	for (const text of texts) log.append([user(text)]);
	log.close();
	return file;
}

function reopen(file: string): SessionLog {
	return SessionLog.open(openFileStore(file), { ...HEADER, id: "fallback" });
}

const texts = (log: SessionLog) => log.branch(new Set(["message"])).map(textOf);

test("nothing is on disk before the first message; then header, prelude and message are there, for the owner only", () => {
	const file = newFile();
	const log = SessionLog.create(HEADER, createFileStore(file, makeFolder));
	log.append([{ type: "model_change", provider: "p", modelId: "m" }]);
	expect(existsSync(file)).toBe(false);
	log.append([user("hi")]);
	const lines = readFileSync(file, "utf8").trimEnd().split("\n");
	expect(lines.map((line) => JSON.parse(line).type)).toEqual(["session", "model_change", "message"]);
	expect((statSync(file).mode & 0o777).toString(8)).toBe("600");
	expect((statSync(join(file, "..")).mode & 0o777).toString(8)).toBe("700");
});

test("entries that waited for the first message can be read before and after it", () => {
	const log = SessionLog.create(HEADER, createFileStore(newFile(), makeFolder));
	log.append([{ type: "custom", customType: "note", data: { a: 1 } }]);
	expect(log.branch().map((entry) => entry.data)).toEqual([{ a: 1 }]);
	log.append([user("hi")]);
	expect(log.branch(new Set(["custom:note"])).map((entry) => entry.data)).toEqual([{ a: 1 }]);
});

test("a new session does not write into a file that exists already", () => {
	const file = writeSession(["old"]);
	const log = SessionLog.create(HEADER, createFileStore(file, makeFolder));
	expect(() => log.append([user("new")])).toThrow(expect.objectContaining({ code: "storage_failed" }));
	expect(texts(reopen(file))).toEqual(["old"]);
});

test("a record that was cut is set aside before the next append, and the new entry can be read (S01)", () => {
	const file = writeSession(["one"]);
	const half = '{"type":"message","id":"aaaaaaaa","parentId":null,"timestamp":"2026';
	appendFileSync(file, half);
	const log = reopen(file);
	expect(log.broken.map((line) => line.reason)).toEqual([`its last ${half.length} bytes were cut off`]);
	log.append([user("two")]);
	log.close();
	expect(texts(reopen(file))).toEqual(["one", "two"]);
	expect(readFileSync(`${file}.torn`, "utf8")).toBe(`${half}\n`);
});

test("a last record that only lacks its newline is kept", () => {
	const file = writeSession(["one", "two"]);
	writeFileSync(file, readFileSync(file).subarray(0, -1));
	const log = reopen(file);
	log.append([user("three")]);
	log.close();
	expect(texts(reopen(file))).toEqual(["one", "two", "three"]);
});

test.each([
	["a block of NUL bytes", Buffer.alloc(4096)],
	["half a record", Buffer.from('{"type":"message","id":"bbbbbbbb","parentId":null,"timestamp":"x","mess')],
	["a record split over two lines", Buffer.from('{"type":"label","id":"cccccccc","parentId":null,"timestamp":"a\nb"}')],
	["text that is no JSON", Buffer.from("hello")],
	["a bare number", Buffer.from("42")],
])("%s between two entries is skipped and counted, and the conversation stays whole", (_name, junk) => {
	const file = writeSession(["one", "two"]);
	const lines = readFileSync(file, "utf8").trimEnd().split("\n");
	writeFileSync(file, Buffer.concat([Buffer.from(`${lines[0]}\n${lines[1]}\n`), junk, Buffer.from(`\n${lines[2]}\n`)]));
	const log = reopen(file);
	expect(texts(log)).toEqual(["one", "two"]);
	expect(log.broken.length).toBeGreaterThan(0);
});

test("an entry whose parent was lost follows the entry before it", () => {
	const file = writeSession(["one", "two", "three"]);
	const lines = readFileSync(file, "utf8").trimEnd().split("\n");
	lines[2] = lines[2]!.slice(0, 40);
	writeFileSync(file, `${lines.join("\n")}\n`);
	expect(texts(reopen(file))).toEqual(["one", "three"]);
});

test("of two lines with one id the later one counts, at the place of the first (S03)", () => {
	const file = writeSession(["one", "two"]);
	const lines = readFileSync(file, "utf8").trimEnd().split("\n");
	appendFileSync(file, `${lines[1]!.replace('"one"', '"ONE"')}\n`);
	expect(texts(reopen(file))).toEqual(["ONE", "two"]);
});

test("blank lines and carriage returns of an editor do no harm", () => {
	const file = writeSession(["one", "two"]);
	writeFileSync(file, `${readFileSync(file, "utf8").replaceAll("\n", "\r\n")}\r\n\n\n`);
	const log = reopen(file);
	expect({ texts: texts(log), broken: log.broken }).toEqual({ texts: ["one", "two"], broken: [] });
});

test("fields in another order and names that are not ASCII are read all the same", () => {
	const file = writeSession(["one"]);
	appendFileSync(
		file,
		'{"id":"größe","timestamp":"2026-01-01T00:00:00Z","parentId":null,"type":"custom","customType":"ä","data":1}\n',
	);
	const log = reopen(file);
	expect(log.leafId).toBe("größe");
	expect(log.branch(new Set(["custom:ä"])).map((entry) => entry.data)).toEqual([1]);
});

test("text with line separators, NUL and lone surrogates stays one line and comes back as it was (S05)", () => {
	const odd = "a\r\nb\u2028c\u2029d\u0000e\u000cf\ud800g";
	const file = writeSession([odd]);
	expect(readFileSync(file, "utf8").split("\n")).toHaveLength(3);
	expect(texts(reopen(file))).toEqual([odd]);
});

test("a file without a readable header opens with the fallback's id and all its entries", () => {
	const file = writeSession(["one"]);
	const lines = readFileSync(file, "utf8").split("\n");
	writeFileSync(file, ["garbage", ...lines.slice(1)].join("\n"));
	const log = reopen(file);
	expect({ id: log.header.id, texts: texts(log) }).toEqual({ id: "fallback", texts: ["one"] });
});

test("a newer format is refused with a text that says what to do", () => {
	const file = writeSession(["one"]);
	writeFileSync(file, readFileSync(file, "utf8").replace('"version":3', '"version":4'));
	expect(() => reopen(file)).toThrow(/format version 4.*Update Prime Agent/);
});

test("bookkeeping entries are written at the leaf and never become it", () => {
	const file = newFile();
	const log = SessionLog.create(HEADER, createFileStore(file, makeFolder));
	const [message] = log.append([user("hi")]);
	const [label] = log.append([{ type: "label", targetId: message!.id, label: "x" }]);
	const [next] = log.append([user("more")]);
	expect({ label: label!.parentId, next: next!.parentId }).toEqual({ label: message!.id, next: message!.id });
	log.close();
	expect(reopen(file).leafId).toBe(next!.id);
});

test("moving the leaf starts a branch beside what follows it", () => {
	const file = newFile();
	const log = SessionLog.create(HEADER, createFileStore(file, makeFolder));
	const [first] = log.append([user("one")]);
	log.append([user("two")]);
	log.moveTo(first!.id);
	log.append([user("three")]);
	expect(texts(log)).toEqual(["one", "three"]);
	log.close();
	expect(texts(reopen(file))).toEqual(["one", "three"]);
});

test("work that began before the conversation moved on is refused", () => {
	const log = SessionLog.create(HEADER, createFileStore(newFile(), makeFolder));
	log.append([user("one")]);
	const { version } = log;
	log.append([user("two")]);
	expect(() => log.append([user("late")], { expect: version })).toThrow(expect.objectContaining({ code: "stale" }));
	expect(texts(log)).toEqual(["one", "two"]);
});

test("a folder that the system will not make is an error and no hang", () => {
	const log = SessionLog.create(HEADER, createFileStore("/proc/no-such-folder/a.jsonl", makeFolder));
	expect(() => log.append([user("hi")])).toThrow(expect.objectContaining({ code: "storage_failed" }));
});
