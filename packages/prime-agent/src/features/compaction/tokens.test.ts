import type { AgentMessage } from "@prime-agent/loop";
import { expect, test } from "vitest";
import type { Entry } from "../../protocol/entry.ts";
import { estimateTokens, measureContext, measureGrowth } from "./tokens.ts";

const user = (content: unknown): AgentMessage => ({ role: "user", content, timestamp: 0 }) as AgentMessage;

const reply = (used: number, stopReason = "stop") => ({
	role: "assistant",
	content: [],
	stopReason,
	usage: { input: used, output: 0, cacheRead: 0, cacheWrite: 0 },
});

/** Entries from the leaf to the root, of messages from the oldest to the newest. */
function branch(...messages: readonly (object | "compaction")[]): Entry[] {
	return messages
		.map((message, n) => ({
			...(message === "compaction" ? { type: message, summary: "s" } : { type: "message", message }),
			id: String(n),
			parentId: null,
			timestamp: "",
		}))
		.reverse();
}

test("an image costs the same whatever its bytes, and never as text (C07)", () => {
	const image = (bytes: number) => user([{ type: "image", data: "A".repeat(bytes), mimeType: "image/png" }]);
	expect(estimateTokens(image(2_000_000))).toBe(estimateTokens(image(10)));
	expect(estimateTokens(image(2_000_000))).toBeLessThan(2_000);
});

test("text of characters that take more bytes is taken for more tokens", () => {
	expect(estimateTokens(user("abcd".repeat(10)))).toBe(10);
	expect(estimateTokens(user("界".repeat(40)))).toBe(30);
});

test("what the provider counted is believed, and only what came after it is guessed (C07)", () => {
	const messages = branch(user("x".repeat(4_000_000)), reply(5_000), user("y".repeat(400)));
	expect(measureContext(messages, [])).toEqual({ tokens: 5_100, isMeasured: true });
});

test("a reply that failed tells nothing about the size", () => {
	expect(measureContext(branch(reply(5_000), reply(7, "error")), []).tokens).toBe(5_000);
});

test("right after a compaction the size is a guess, until the next reply", () => {
	const shown = [user("z".repeat(40))];
	expect(measureContext(branch(reply(5_000), "compaction"), shown)).toEqual({ tokens: 10, isMeasured: false });
	expect(measureContext(branch("compaction", reply(300)), shown)).toEqual({ tokens: 300, isMeasured: true });
});

test("a server that does not count gets a guess for everything", () => {
	const shown = [user("z".repeat(40)), user("z".repeat(40))];
	expect(measureContext(branch(user("z".repeat(40)), reply(0)), shown)).toEqual({ tokens: 20, isMeasured: true });
});

test("growth counts from where the context was smallest since the last compaction", () => {
	expect(measureGrowth(branch(reply(10), user("hi")))).toBeUndefined();
	expect(measureGrowth(branch(reply(10), "compaction", reply(9_000)))).toBe(0);
	expect(measureGrowth(branch("compaction", reply(9_000), reply(400), reply(5_000)))).toBe(4_600);
	expect(measureGrowth(branch("compaction", user("z".repeat(40)), reply(0)))).toBe(10);
});
