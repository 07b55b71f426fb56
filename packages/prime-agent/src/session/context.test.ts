import { expect, test } from "vitest";
import { SessionContext } from "./context.ts";
import { SessionLog } from "./log.ts";
import { createMemoryStore } from "./storage/memory.ts";
import { HEADER } from "./testing/harness.ts";

const user = (text: string) => ({ type: "message", message: { role: "user", content: text, timestamp: 1 } });

function open() {
	const log = SessionLog.create(HEADER, createMemoryStore());
	return { log, context: new SessionContext(log) };
}

const texts = (context: SessionContext) =>
	context.messages().map((message) => (message as { content: string }).content.replace(/\s+/g, " "));

test("messages that are appended are in the context without reading the branch again", () => {
	const { log, context } = open();
	log.append([user("one")]);
	expect(texts(context)).toEqual(["one"]);
	log.append([{ type: "custom", customType: "state", data: 1 }, user("two")]);
	log.append([{ type: "label", label: "x" }]);
	log.append([{ type: "custom_message", customType: "goal_context", content: "go on", display: false }]);
	expect(texts(context)).toEqual(["one", "two", "go on"]);
	expect(texts(new SessionContext(log))).toEqual(texts(context));
});

test("a compaction opens the context with its summary and keeps what follows the entry it names", () => {
	const { log, context } = open();
	log.append([user("one"), user("two")]);
	const [kept] = log.append([user("three")]);
	expect(texts(context)).toHaveLength(3);
	log.append([{ type: "compaction", summary: "1 and 2", firstKeptEntryId: kept!.id, tokensBefore: 9 }]);
	log.append([user("four")]);
	const expected = ["Summary of the conversation so far: 1 and 2", "three", "four"];
	expect(texts(context)).toEqual(expected);
	expect(texts(new SessionContext(log))).toEqual(expected);
});

test("of several compactions the newest counts", () => {
	const { log, context } = open();
	const [first] = log.append([user("one")]);
	log.append([{ type: "compaction", summary: "old", firstKeptEntryId: first!.id, tokensBefore: 9 }]);
	const [second] = log.append([user("two")]);
	log.append([{ type: "compaction", summary: "new", firstKeptEntryId: second!.id, tokensBefore: 9 }]);
	expect(texts(context)).toEqual(["Summary of the conversation so far: new", "two"]);
});

test("a compaction or branch summary without words hides nothing and says nothing", () => {
	const { log, context } = open();
	const [first] = log.append([user("one")]);
	log.append([{ type: "compaction", summary: "sound", firstKeptEntryId: first!.id, tokensBefore: 9 }]);
	log.append([user("two"), { type: "compaction", firstKeptEntryId: "gone" }, { type: "compaction", summary: 5 }]);
	log.append([{ type: "branch_summary", fromId: first!.id }, user("three")]);
	expect(texts(context)).toEqual(["Summary of the conversation so far: sound", "one", "two", "three"]);
});

test("moving the leaf changes the context to the other branch", () => {
	const { log, context } = open();
	const [first] = log.append([user("one")]);
	log.append([user("two")]);
	expect(texts(context)).toEqual(["one", "two"]);
	log.moveTo(first!.id);
	expect(texts(context)).toEqual(["one"]);
	log.append([user("three")]);
	expect(texts(context)).toEqual(["one", "three"]);
});

test("a compaction that keeps from an entry without a message, or from one that is lost, still ends the walk", () => {
	const { log, context } = open();
	log.append([user("one")]);
	const [change] = log.append([{ type: "model_change", provider: "p", modelId: "m" }]);
	log.append([user("two")]);
	log.append([{ type: "compaction", summary: "1", firstKeptEntryId: change!.id, tokensBefore: 9 }]);
	expect(texts(context)).toEqual(["Summary of the conversation so far: 1", "two"]);
	log.append([{ type: "compaction", summary: "all", firstKeptEntryId: "deadbeef", tokensBefore: 9 }]);
	log.append([user("three")]);
	expect(texts(context)).toEqual(["Summary of the conversation so far: all", "three"]);
});
