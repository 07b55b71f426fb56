import { findPairingFault, reply } from "@prime-agent/testkit";
import { expect, test } from "vitest";
import type { Entry } from "../../protocol/entry.ts";
import type { EntryDraft } from "../../session/log.ts";
import { type Bench, openBench } from "../../session/testing/harness.ts";
import { findCut, type PlacedMessage, readConversation } from "./cut.ts";
import { compaction } from "./feature.ts";

/** Numbers from 0 to 1, the same for the same seed. */
function random(seed: number): () => number {
	let state = seed;
	return () => {
		state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
		return state / 2 ** 32;
	};
}

let calls = 0;

/** Entries as a session leaves them behind: turns, failures, interruptions, notes of features. */
function someEntries(next: () => number, count: number): EntryDraft[] {
	const drafts: EntryDraft[] = [];
	const say = (message: object) => drafts.push({ type: "message", message: { timestamp: 1, ...message } });
	const words = () => "word ".repeat(1 + Math.floor(next() * 200));
	while (drafts.length < count) {
		const dice = next();
		if (dice < 0.2) say({ role: "user", content: words() });
		else if (dice < 0.25) drafts.push({ type: "custom", customType: "state", data: dice });
		else if (dice < 0.3) {
			drafts.push({ type: "custom_message", customType: "goal_context", content: words(), display: false });
		} else {
			const ids = Array.from({ length: Math.floor(next() * 4) }, () => `call-${++calls}`);
			const stopReason = next() < 0.15 ? "aborted" : ids.length > 0 ? "toolUse" : "stop";
			say(assistant(stopReason, words(), ids));
			// An interrupted turn lacks results, a broken reply has none.
			const isCut = next() < 0.15;
			if (stopReason !== "aborted") for (const id of isCut ? ids.slice(1) : ids) say(result(id, words()));
		}
	}
	return drafts;
}

function assistant(stopReason: string, text: string, ids: readonly string[]) {
	const content = [
		{ type: "text", text },
		...ids.map((id) => ({ type: "toolCall", id, name: "cell", arguments: { code: text } })),
	];
	const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
	const usage = { input: 10, output: 1, cacheRead: 0, cacheWrite: 0, totalTokens: 11, cost };
	return { role: "assistant", content, stopReason, api: "scripted", provider: "scripted", model: "m", usage };
}

function result(toolCallId: string, text: string) {
	return { role: "toolResult", toolCallId, toolName: "cell", content: [{ type: "text", text }], isError: false };
}

/** Calls and results that stay although their other half went into the summary. */
function strays({ session: _, log }: Bench): string[] {
	const { messages } = readConversation(log.fromLeaf());
	const kept = new Set(
		messages.flatMap(({ message }) =>
			message.role === "assistant" ? message.content.map((block) => (block.type === "toolCall" ? block.id : "")) : [],
		),
	);
	return messages.flatMap(({ message }) =>
		message.role === "toolResult" && !kept.has(message.toolCallId) ? [message.toolCallId] : [],
	);
}

test("whatever was compacted how often, each context is one that a strict server takes and no call loses its result (C01)", async () => {
	let compactions = 0;
	for (let seed = 1; seed <= 12; seed++) {
		const next = random(seed);
		const settings = { "compaction.keepRecentTokens": Math.floor(next() * 2_000) };
		const bench = openBench({ features: [compaction], settings });
		for (let round = 0; round < 5; round++) {
			bench.log.append(someEntries(next, 3 + Math.floor(next() * 40)));
			bench.model.script(reply({ text: "NOTES" }), reply({ text: "ok" }));
			await bench.session.call("compact.run", {}, "client");
			compactions++;
			expect(strays(bench)).toEqual([]);
			expect(await bench.say("go on")).toMatchObject({ stage: "completed" });
			expect(findPairingFault(bench.model.calls.at(-1)!.context.messages)).toBeUndefined();
		}
		expect(bench.log.branch(new Set(["compaction"]))).toHaveLength(5);
	}
	expect(compactions).toBe(60);
});

const place = (...messages: readonly object[]) =>
	messages.map((message, n) => ({ id: String(n), message }) as unknown as PlacedMessage);
const user = (text: string) => ({ role: "user", content: text });
const idsOf = (messages: readonly PlacedMessage[] | undefined) => messages?.map(({ id }) => id).join("");

/** What may stay of a conversation, from the least to the most. */
function listCuts(messages: readonly PlacedMessage[]): string[] {
	const cuts = new Set<string>();
	for (let keep = 0; keep < 100; keep++) cuts.add(idsOf(findCut(messages, keep, 1e9)?.kept) ?? "nothing");
	return [...cuts];
}

const TURNS = place(
	user("one"),
	assistant("toolUse", "a", ["x", "y"]),
	result("x", "1"),
	result("y", "2"),
	assistant("stop", "done", []),
	user("two"),
	assistant("toolUse", "b", ["z"]),
	result("z", "3"),
);

test("what stays begins before a user message or a reply, never between a call and its results", () => {
	expect(listCuts(TURNS)).toEqual(["67", "567", "4567", "1234567", "nothing"]);
});

test("a newest turn that is too large goes into the summary as a whole, a user's message never does", () => {
	expect(idsOf(findCut(TURNS, 0, 1)?.kept)).toBe("");
	expect(idsOf(findCut([...TURNS, ...place(user("three"))], 0, 1)?.kept)).toBe("0");
});

test("something said between a call and its result does not part them", () => {
	const messages = place(user("one"), assistant("toolUse", "a", ["x"]), user("note"), result("x", "1"), user("two"));
	expect(listCuts(messages)).toEqual(["4", "1234", "nothing"]);
});

test("a conversation begins where the newest compaction says, also when an older one lies behind that", () => {
	const entry = (id: string, fields: object) => ({ id, parentId: null, timestamp: "", ...fields }) as unknown as Entry;
	const say = (id: string) => entry(id, { type: "message", message: user(id) });
	const compacted = (id: string, firstKeptEntryId: string) =>
		entry(id, { type: "compaction", summary: "s", firstKeptEntryId });
	const branch = [say("a"), say("b"), say("c"), compacted("old", "a"), say("d"), compacted("new", "b"), say("e")];
	const { last, messages } = readConversation(branch.reverse());
	expect({ last: last?.id, kept: idsOf(messages) }).toEqual({ last: "new", kept: "bcde" });
});

test("a single message and an empty conversation cannot be cut", () => {
	expect(findCut([], 0, 1)).toBeUndefined();
	expect(findCut(place(user("one")), 0, 1)).toBeUndefined();
});

test("calls that never got a result do not keep the conversation from being cut after them", () => {
	const cut = findCut(
		place(user("one"), assistant("toolUse", "a", ["x"]), user("two"), assistant("stop", "b", [])),
		0,
		1e9,
	);
	expect(idsOf(cut?.kept)).toBe("3");
});

test("a compaction that lost its summary, or what it kept, is read as the model's context has it", () => {
	const entry = (id: string, fields: object) => ({ id, parentId: null, timestamp: "", type: "message", ...fields });
	const user = (id: string) => entry(id, { message: { role: "user", content: id, timestamp: 1 } });
	const read = (compacted: object) => {
		const entries = [user("a"), user("b"), entry("c", { type: "compaction", ...compacted }), user("d")];
		const { last, messages } = readConversation(entries.reverse() as Entry[]);
		return { last: last?.id, ids: messages.map(({ id }) => id) };
	};
	expect(read({ summary: "s", firstKeptEntryId: "b" })).toEqual({ last: "c", ids: ["b", "d"] });
	expect(read({ summary: "s", firstKeptEntryId: "gone" })).toEqual({ last: "c", ids: ["d"] });
	expect(read({ summary: "s" })).toEqual({ last: "c", ids: ["d"] });
	expect(read({ summary: " ", firstKeptEntryId: "b" })).toEqual({ last: undefined, ids: ["a", "b", "d"] });
	expect(read({ summary: 5, firstKeptEntryId: "b" })).toEqual({ last: undefined, ids: ["a", "b", "d"] });
});
