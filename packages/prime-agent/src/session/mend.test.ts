import { expect, test } from "vitest";
import { mendMessage } from "./mend.ts";

const COST = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
const USAGE = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, totalTokens: 2, cost: COST };
const FROM = { api: "a", provider: "p", model: "m", usage: USAGE, stopReason: "toolUse", timestamp: 2 };
const text = (value: unknown) => ({ type: "text", text: value });
const call = { type: "toolCall", id: "c", name: "ipython", arguments: { code: "1" } };
const picture = { type: "image", data: "iVBO", mimeType: "image/png" };

test.each([
	{ role: "user", content: "hi", timestamp: 1 },
	{ role: "user", content: [text("hi"), picture], timestamp: 1 },
	{ role: "assistant", content: [{ type: "thinking", thinking: "hm" }, text("x"), call], ...FROM },
	{ role: "toolResult", toolCallId: "c", toolName: "ipython", content: [text("1")], isError: false, timestamp: 3 },
	{ role: "of an extension", anything: 1 },
])("a sound message of the role $role is the very same object", (message) => {
	expect(mendMessage(message)).toBe(message);
});

test.each([null, 42, "text", [], {}, { role: 1 }])("%j is no message", (value) => {
	expect(mendMessage(value)).toBeUndefined();
});

test("what is missing in a reply is filled in, unknown blocks are left out, and calls keep their place", () => {
	const broken = {
		role: "assistant",
		content: [text(1), text("ok"), { type: "hologram" }, null, { ...call, id: undefined, arguments: "{" }],
		stopReason: "?",
	};
	expect(mendMessage(broken)).toMatchObject({
		content: [text("ok"), { ...call, id: "", arguments: {} }],
		stopReason: "stop",
		usage: { totalTokens: 0, cost: { total: 0 } },
		timestamp: 0,
	});
	expect(mendMessage({ role: "assistant", content: "as a text", ...FROM })).toMatchObject({
		content: [text("as a text")],
	});
});

test("what is missing in a result is filled in", () => {
	expect(mendMessage({ role: "toolResult", content: "1" })).toEqual({
		...{ role: "toolResult", toolCallId: "", toolName: "" },
		...{ content: [text("1")], isError: false, timestamp: 0 },
	});
});

test("half a character becomes a whole one in texts and in arguments, however deep", () => {
	const mended = "half \ufffd";
	const half = "half \ud83d";
	expect(mendMessage({ role: "user", content: half, timestamp: 1 })).toMatchObject({ content: mended });
	expect(mendMessage({ role: "user", content: [text(half)], timestamp: 1 })).toMatchObject({ content: [text(mended)] });
	const deep = { ...call, arguments: { code: [{ [half]: half }], whole: "😀" } };
	expect(mendMessage({ role: "assistant", content: [deep], ...FROM })).toMatchObject({
		content: [{ arguments: { code: [{ [mended]: mended }], whole: "😀" } }],
	});
});
