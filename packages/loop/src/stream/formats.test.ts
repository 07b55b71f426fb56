import {
	type ModelServer,
	type ReplyOptions,
	raw,
	reply,
	startAnthropicServer,
	startChatServer,
	startGeminiServer,
	startResponsesServer,
} from "@prime-agent/testkit";
import { expect, test } from "vitest";
import { textOf } from "../testing/script.ts";
import { callGuarded } from "../testing/server.ts";
import { classifyFailure } from "./failure.ts";

const formats: [string, () => Promise<ModelServer>][] = [
	["openai-completions", startChatServer],
	["anthropic-messages", startAnthropicServer],
	["openai-responses", startResponsesServer],
	["google-generative-ai", startGeminiServer],
];
const text = "hello wörld 你好 👋🏽";

async function ask(api: string, start: () => Promise<ModelServer>, options: ReplyOptions, guard = {}) {
	await using server = await start();
	server.script(reply({ chunk: 2, ...options }));
	const { message, events } = await callGuarded(server.baseUrl, { api, ...guard });
	expect(server.rejections).toEqual([]);
	return { message, events };
}

for (const [api, start] of formats) {
	test(`${api}: a whole reply is a success, byte by byte`, async () => {
		const { message } = await ask(api, start, { text, split: "byte" });
		expect([message.stopReason, textOf(message), message.errorMessage]).toEqual(["stop", text, undefined]);
	});

	// Gemini says nowhere that nothing follows.
	test.skipIf(api.startsWith("google"))(
		`${api}: a whole reply is a success when the server stays connected`,
		async () => {
			const mutate = (frames: readonly Buffer[]) => [Buffer.concat(frames)];
			const guard = { firstByteMs: 0, idleMs: 0, progressMs: 0 };
			const { message } = await ask(api, start, { text, mutate, silence: { afterEvents: 1 } }, guard);
			expect([message.stopReason, textOf(message), message.errorMessage]).toEqual(["stop", text, undefined]);
		},
	);

	test(`${api}: a whole call is complete`, async () => {
		const { message, events } = await ask(api, start, { calls: [{ id: "call_1", name: "echo", arguments: { text } }] });
		expect(message.stopReason).toBe("toolUse");
		const calls = message.content.filter((block) => block.type === "toolCall");
		expect(calls).toMatchObject([{ name: "echo", arguments: { text } }]);
		expect(events.filter((event) => event.type === "toolcall_end")).toHaveLength(1);
	});

	test(`${api}: a stream that just ends is no success and keeps its text (P05)`, async () => {
		const { message } = await ask(api, start, { text, end: "cut" });
		expect([message.stopReason, textOf(message)]).toEqual(["error", text]);
		expect(classifyFailure(message)?.kind).toBe("truncated");
	});

	test(`${api}: a lost connection is no success and keeps its text`, async () => {
		const { message } = await ask(api, start, { text: text.repeat(5), end: "disconnect-after-12-events" });
		expect(message.stopReason).toBe("error");
		expect(text.repeat(5).startsWith(textOf(message))).toBe(true);
		expect(classifyFailure(message)?.kind).toBe("network");
	});

	test(`${api}: an error inside the stream is no success (P13)`, async () => {
		const errorInStream = {
			type: "overloaded_error",
			code: "overloaded",
			status: "UNAVAILABLE",
			message: "The model is overloaded.",
		};
		const { message } = await ask(api, start, { text, errorInStream });
		expect(message.stopReason).toBe("error");
		expect(message.errorMessage).toContain("overloaded");
		expect(classifyFailure(message)?.kind).toBe("overloaded");
	});

	test(`${api}: a refusal is no success (P23)`, async () => {
		const { message } = await ask(api, start, { text: "", finish: "refusal" });
		expect(message.stopReason).toBe("error");
		expect(classifyFailure(message)?.kind).toMatch(/^(?:safety|refusal)$/);
		expect(classifyFailure(message)?.permanent).toBe(true);
	});

	test(`${api}: an output limit stays an output limit`, async () => {
		const { message } = await ask(api, start, { text, finish: "length" });
		expect([message.stopReason, textOf(message)]).toEqual(["length", text]);
	});

	test(`${api}: silence in the middle ends in a timeout that keeps the text`, async () => {
		const { message } = await ask(api, start, { text, silence: { afterEvents: 5 } }, { idleMs: 200 });
		expect(classifyFailure(message)?.kind).toBe("timeout");
		expect(text.startsWith(textOf(message))).toBe(true);
	});
}

test.each(["SAFETY", "OTHER", "PROHIBITED_CONTENT"])(
	"a prompt that Gemini blocks (%s) is a matter of its filter, and not asked again",
	async (blockReason) => {
		await using server = await startGeminiServer();
		const usageMetadata = { promptTokenCount: 5, totalTokenCount: 5 };
		const body = `data: ${JSON.stringify({ promptFeedback: { blockReason }, usageMetadata })}\n\n`;
		server.script(raw({ status: 200, headers: { "content-type": "text/event-stream" }, body }));
		const { message } = await callGuarded(server.baseUrl, { api: "google-generative-ai" });
		expect(classifyFailure(message)).toEqual({ kind: "safety", permanent: true });
		expect(message.errorMessage).toBe(
			`The provider's filter does not answer this prompt (${blockReason}); rephrase the request.`,
		);
	},
);
