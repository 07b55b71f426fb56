import type { AgentMessage } from "@prime-agent/loop";
import { expect, test } from "vitest";
import { cutMiddle } from "../../lib/text.ts";
import { serialize } from "./serialize.ts";

const messages = [
	{
		role: "user",
		content: [
			{ type: "text", text: "look" },
			{ type: "image", data: "A".repeat(9), mimeType: "image/png" },
		],
	},
	{
		role: "assistant",
		stopReason: "toolUse",
		content: [
			{ type: "thinking", thinking: "secret thoughts" },
			{ type: "text", text: "I look." },
			{ type: "toolCall", id: "a", name: "ipython", arguments: { code: "1+1" } },
		],
	},
	{ role: "toolResult", toolCallId: "a", content: [{ type: "text", text: "2" }], isError: false },
	{ role: "assistant", stopReason: "error", content: [{ type: "toolCall", id: "b", name: "ipython", arguments: {} }] },
] as unknown as AgentMessage[];

test("messages become text that says who said what, without thinking, image bytes and calls that never ran", () => {
	expect(serialize(messages, 1_000)).toBe(
		"[user]\nlook\n[image]\n\n[agent]\nI look.\n\n[agent calls ipython]\n1+1\n\n[result]\n2",
	);
});

test("a long result is cut in its middle and the whole stays below its limit", () => {
	const long = { role: "toolResult", toolCallId: "a", content: [{ type: "text", text: `b${"x".repeat(9_000)}e` }] };
	const one = serialize([long] as unknown as AgentMessage[], 100_000);
	expect(one.length).toBeLessThan(2_100);
	expect(one).toMatch(/^\[result\]\nbx+\n\[… \d+ characters cut …\]\nx+e$/);
	const many = Array.from({ length: 50 }, () => long) as unknown as AgentMessage[];
	expect(serialize(many, 10_000).length).toBeLessThanOrEqual(10_020);
});

test("a cut never halves a character", () => {
	for (let limit = 50; limit < 60; limit++) expect(cutMiddle("😀".repeat(50), limit).isWellFormed()).toBe(true);
});
