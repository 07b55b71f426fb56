import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { SessionContext } from "./context.ts";
import { SessionLog } from "./log.ts";
import { openFileStore } from "./storage.ts";
import { HEADER } from "./testing/harness.ts";

const said = (text: string) => ({
	type: "message",
	timestamp: "2025-01-01T00:00:00Z",
	message: { role: "user", content: text },
});
const user = (text: string) => ({ type: "message", message: { role: "user", content: text, timestamp: 1 } });

function write(lines: readonly object[]): string {
	const file = join(mkdtempSync(join(tmpdir(), "session-")), "a.jsonl");
	writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
	return file;
}

const open = (file: string) => SessionLog.open(openFileStore(file), HEADER);
const contents = (log: SessionLog) =>
	new SessionContext(log).messages().map((message) => (message as { content: string }).content);

const { version: _version, rlmDepth: _depth, ...plainHeader } = HEADER;

test.each([
	["no version", plainHeader],
	["version 2", { ...plainHeader, version: 2 }],
])(
	"a file of %s, whose entries have no ids, is read as one line of talk and goes on without being rewritten",
	(_name, header) => {
		const file = write([header, { type: "model_change", provider: "p", modelId: "m" }, said("one"), said("two")]);
		const before = readFileSync(file, "utf8");
		const log = open(file);
		expect({ contents: contents(log), broken: log.broken }).toEqual({ contents: ["one", "two"], broken: [] });
		expect(log.branch()).toMatchObject([
			{ id: "00000002", parentId: null, type: "model_change" },
			{ id: "00000003", parentId: "00000002", message: { content: "one" } },
			{ id: "00000004", parentId: "00000003", message: { content: "two" } },
		]);
		log.append([user("three")]);
		log.append([user("four")]);
		log.close();
		expect(readFileSync(file, "utf8").startsWith(before)).toBe(true);
		const again = open(file);
		expect({ contents: contents(again), broken: again.broken }).toEqual({
			contents: ["one", "two", "three", "four"],
			broken: [],
		});
	},
);

test("a compaction of a file without ids keeps its summary and all that came after it", () => {
	const compaction = {
		type: "compaction",
		timestamp: "2025-01-01T00:00:00Z",
		summary: "They met.",
		firstKeptEntryIndex: 1,
		tokensBefore: 9,
	};
	const log = open(write([plainHeader, said("one"), compaction, said("two")]));
	expect(contents(log)).toEqual([expect.stringContaining("They met."), "two"]);
});

test("in a file of this version an entry without an id is left out and counted", () => {
	const log = open(write([HEADER, said("one"), { ...said("two"), id: "aaaaaaaa" }]));
	expect({ contents: contents(log), broken: log.broken }).toEqual({
		contents: ["two"],
		broken: [{ line: 2, reason: "it has no type or id" }],
	});
});

test("kinds and fields that are not known stay in the file, on the branch and out of the talk", () => {
	const entry = (id: string, parentId: string | null, rest: object) => ({
		...rest,
		id,
		parentId,
		timestamp: "2026-01-01T00:00:00Z",
		later: { a: 1 },
	});
	const log = open(
		write([
			{ ...HEADER, later: true },
			entry("aaaaaaaa", null, { ...said("one"), message: { role: "user", content: "one", mood: "good" } }),
			entry("bbbbbbbb", "aaaaaaaa", { type: "hologram", data: [1] }),
			entry("cccccccc", "bbbbbbbb", said("two")),
		]),
	);
	expect({ contents: contents(log), broken: log.broken }).toEqual({ contents: ["one", "two"], broken: [] });
	expect(log.branch().map((found) => found.type)).toEqual(["message", "hologram", "message"]);
	log.append([user("three")]);
	expect(contents(log)).toEqual(["one", "two", "three"]);
});
