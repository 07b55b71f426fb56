/** The real client library must accept what the mock sends, and the mock what the client sends. */

import { type AssistantMessage, type Message, type Model, normalizeContext, type Tool } from "@earendil-works/pi-ai";
import { streamSimple } from "@earendil-works/pi-ai/api/openai-completions";
import { describe, expect, it } from "vitest";
import { sharedPrefix } from "../prefix.ts";
import type { ModelServer } from "../server.ts";
import { type ReplyOptions, raw, reply, type Step } from "../step.ts";
import { startChatServer } from "./server.ts";

const tools: Tool[] = [
	{
		name: "run",
		description: "Runs code.",
		parameters: { type: "object", properties: { code: { type: "string" } }, required: ["code"] },
	},
];
const user: Message = { role: "user", content: "hi", timestamp: 1 };
const calls = [
	{ id: "call_a", name: "run", arguments: { code: "日本 😀" } },
	{ id: "call_b", name: "run", arguments: { code: "2" } },
];
const answerParts = [
	{ type: "thinking", thinking: "考える 😀", thinkingSignature: "reasoning_content" },
	{ type: "text", text: "grüße 👩‍👩‍👧" },
	{ type: "toolCall", id: "call_a", name: "run", arguments: { code: "日本 😀" } },
	{ type: "toolCall", id: "call_b", name: "run", arguments: { code: "2" } },
];
const full: ReplyOptions = { thinking: "考える 😀", text: "grüße 👩‍👩‍👧", calls };

function makeModel(server: ModelServer): Model<"openai-completions"> {
	return {
		id: "m",
		name: "M",
		api: "openai-completions",
		provider: "mock",
		baseUrl: server.baseUrl,
		input: ["text", "image"],
		cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
		reasoning: true,
		contextWindow: 100_000,
		maxTokens: 1_000,
	};
}

function ask(server: ModelServer, messages: Message[], signal?: AbortSignal): Promise<AssistantMessage> {
	const context = normalizeContext({ systemPrompt: "rules", messages, tools });
	const options = { apiKey: "k", maxRetries: 0, reasoning: "medium", ...(signal ? { signal } : {}) } as const;
	return streamSimple(makeModel(server), context, options).result();
}

async function askOnce(step: Step): Promise<AssistantMessage> {
	await using server = await startChatServer();
	server.script(step);
	const message = await ask(server, [user]);
	expect(server.rejections).toEqual([]);
	return message;
}

function resultOf(id: string): Message {
	return {
		role: "toolResult",
		toolCallId: id,
		toolName: "run",
		content: [{ type: "text", text: "ok" }],
		isError: false,
		timestamp: 2,
	};
}

describe("the client library against the chat mock", () => {
	it.each([
		["whole events", {}],
		["single bytes", { split: "byte" }],
		["pieces of 7 bytes", { split: 7 }],
		["CR LF and comments", { crlf: true, comments: true }],
		["single characters", { chunk: 1 }],
		["interleaved calls", { interleave: true, chunk: 2 }],
		["ids at the end of calls", { lateIds: true }],
		["a doubled finish", { duplicateFinish: true }],
		["no end marker", { end: "missing" }],
	] satisfies [string, Partial<ReplyOptions>][])("reads a full reply sent as %s", async (_, wire) => {
		const message = await askOnce(reply({ ...full, ...wire }));
		expect(message).toMatchObject({ stopReason: "toolUse", content: answerParts });
	});

	it("reads the usage with cache and reasoning", async () => {
		const usage = { input: 100, output: 30, cacheRead: 60, reasoning: 20 };
		expect((await askOnce(reply({ text: "ok", usage }))).usage).toMatchObject({
			input: 40,
			output: 30,
			cacheRead: 60,
			reasoning: 20,
			totalTokens: 130,
		});
	});

	it.each([
		["no finish reason", reply({ ...full, end: "no-finish" }), "Stream ended without finish_reason"],
		["a body that just ends", reply({ ...full, end: "cut" }), "Stream ended without finish_reason"],
		["a cut connection", reply({ ...full, end: "disconnect-after-4-events" }), "terminated"],
		["an error in the stream", reply({ text: "a", errorInStream: { message: "boom" } }), "boom"],
		["a refusal", reply({ text: "", finish: "refusal" }), "content_filter"],
		["an HTTP error", raw({ status: 429, body: { error: { message: "slow down" } } }), "slow down"],
	])("reports %s as an error", async (_, step, text) => {
		const message = await askOnce(step);
		expect(message.stopReason).toBe("error");
		expect(message.errorMessage).toContain(text);
	});

	it("reports a reply at its length limit as cut", async () => {
		expect((await askOnce(reply({ text: "abc", finish: "length" }))).stopReason).toBe("length");
	});

	it("marks arguments that were cut", async () => {
		const message = await askOnce(reply({ calls: [{ name: "run", arguments: '{"code":"rm -r' }] }));
		expect(message.content).toMatchObject([{ type: "toolCall", arguments: {}, argumentsError: expect.any(String) }]);
	});

	it("leaves a silent stream when its signal aborts", async () => {
		await using server = await startChatServer();
		server.script(reply({ text: "ab", silence: { afterEvents: 2 } }));
		const leave = new AbortController();
		const message = ask(server, [user], leave.signal);
		await server.waitForRequests(1);
		leave.abort();
		expect((await message).stopReason).toBe("aborted");
	});

	it("sends conversations with thinking, calls and results that pass the rules and keep their prefix", async () => {
		await using server = await startChatServer();
		server.script(
			reply(full),
			reply({ text: "more", calls: [{ id: "call_c", name: "run", arguments: {} }] }),
			reply({ text: "done" }),
		);
		const messages: Message[] = [user];
		messages.push(await ask(server, messages), resultOf("call_a"), resultOf("call_b"));
		messages.push(await ask(server, messages), resultOf("call_c"));
		expect((await ask(server, messages)).content).toEqual([{ type: "text", text: "done" }]);
		const [first, second, third] = server.requests;
		if (!first || !second || !third) throw new Error("three requests were sent");
		expect(sharedPrefix(first, second)).toEqual({ isPrefix: true, shared: 2 });
		expect(sharedPrefix(second, third)).toEqual({ isPrefix: true, shared: 5 });
		expect(server.rejections).toEqual([]);
	});
});
