import type { AssistantMessage, Message } from "@earendil-works/pi-ai";
import { describe, expect, it } from "vitest";
import { reply } from "../servers/step.ts";
import { fail, type ModelStep, type ScriptedModel, scriptedModel } from "./scripted.ts";

const user: Message = { role: "user", content: "hi", timestamp: 1 };

async function play(scripted: ScriptedModel, messages: Message[] = [user], signal?: AbortSignal) {
	const stream = scripted.streamFn(scripted.model, { systemPrompt: "rules", messages }, signal ? { signal } : {});
	const events: string[] = [];
	for await (const event of stream) events.push(event.type);
	return { events, message: await stream.result() };
}

async function playOne(step: ModelStep): Promise<AssistantMessage> {
	return (await play(scriptedModel([step]))).message;
}

function callOf(id: string, stopReason: AssistantMessage["stopReason"] = "toolUse"): Message {
	return {
		...structuredClone(base),
		stopReason,
		content: [{ type: "toolCall", id, name: "run", arguments: {} }],
	};
}

function resultOf(id: string): Message {
	return { role: "toolResult", toolCallId: id, toolName: "run", content: [], isError: false, timestamp: 1 };
}

const base: AssistantMessage = {
	role: "assistant",
	content: [],
	api: "scripted",
	provider: "scripted",
	model: "m",
	stopReason: "stop",
	timestamp: 1,
	usage: {
		input: 0,
		output: 0,
		cacheRead: 0,
		cacheWrite: 0,
		totalTokens: 0,
		cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
	},
};

describe("scriptedModel", () => {
	it("streams thinking, text and calls as the real clients do", async () => {
		const scripted = scriptedModel([
			reply({ thinking: "hm", text: "hello", chunk: 3, calls: [{ id: "a", name: "run", arguments: { code: "1" } }] }),
		]);
		const { events, message } = await play(scripted);
		expect(events).toEqual([
			"start",
			"thinking_start",
			"thinking_delta",
			"thinking_end",
			"text_start",
			"text_delta",
			"text_delta",
			"text_end",
			"toolcall_start",
			"toolcall_delta",
			"toolcall_delta",
			"toolcall_delta",
			"toolcall_delta",
			"toolcall_end",
			"done",
		]);
		expect(message).toMatchObject({
			stopReason: "toolUse",
			content: [
				{ type: "thinking", thinking: "hm", thinkingSignature: expect.any(String) },
				{ type: "text", text: "hello" },
				{ type: "toolCall", id: "a", name: "run", arguments: { code: "1" } },
			],
		});
	});

	it("keeps each request as it was and lets a function answer from it", async () => {
		const scripted = scriptedModel([(call) => reply({ text: String(call.context.messages.length) })]);
		const asked = { ...user };
		const messages: Message[] = [asked];
		const { message } = await play(scripted, messages);
		messages.push(message);
		asked.content = "changed later";
		expect(message.content).toEqual([{ type: "text", text: "1" }]);
		expect(scripted.calls[0]?.context).toEqual({ systemPrompt: "rules", messages: [user] });
	});

	it("keeps the declared tools without what runs them", async () => {
		const scripted = scriptedModel([reply({ text: "a" })]);
		const tool = { name: "run", description: "Runs.", parameters: { type: "object" }, execute: () => undefined };
		await scripted.streamFn(scripted.model, { messages: [user], tools: [tool] }).result();
		expect(scripted.calls[0]?.context.tools).toEqual([
			{ name: "run", description: "Runs.", parameters: { type: "object" } },
		]);
	});

	it("ends with an error after the last step", async () => {
		expect((await play(scriptedModel())).message).toMatchObject({
			stopReason: "error",
			errorMessage: "script exhausted",
		});
	});

	it("counts usage with prices", async () => {
		const { usage } = await playOne(
			reply({ text: "a", usage: { input: 1_000_000, output: 500_000, cacheRead: 400_000 } }),
		);
		expect(usage).toMatchObject({ input: 600_000, cacheRead: 400_000, output: 500_000, totalTokens: 1_500_000 });
		expect(usage.cost.total).toBeCloseTo(0.6 + 0.04 + 1);
	});

	it("keeps what was shown when a reply fails", async () => {
		const message = await playOne(fail("529 overloaded", { text: "partial" }));
		expect(message).toMatchObject({
			stopReason: "error",
			errorMessage: "529 overloaded",
			content: [{ text: "partial" }],
		});
	});

	it.each([
		["length", reply({ text: "a", finish: "length" })],
		["error", reply({ text: "a", end: "cut" })],
		["error", reply({ text: "a", errorInStream: { message: "boom" } })],
		["error", reply({ text: "a", finish: "refusal" })],
	] as const)("ends with stop reason %s like a server would", async (stopReason, step) => {
		expect((await playOne(step)).stopReason).toBe(stopReason);
	});

	it("marks arguments that are no JSON object", async () => {
		const message = await playOne(reply({ calls: [{ name: "run", arguments: '{"code":' }] }));
		expect(message.content).toMatchObject([{ arguments: {}, argumentsError: expect.any(String) }]);
	});

	it("is silent until the signal aborts, and keeps what it has said", async () => {
		const scripted = scriptedModel([reply({ text: "abcdef", chunk: 2, silence: { afterEvents: 2 } })]);
		const leave = new AbortController();
		const stream = scripted.streamFn(scripted.model, { messages: [user] }, { signal: leave.signal });
		for await (const event of stream) if (event.type === "text_delta") leave.abort();
		expect(await stream.result()).toMatchObject({ stopReason: "aborted", content: [{ text: "ab" }] });
	});

	it("does not start when the signal has already aborted, and uses no step", async () => {
		const scripted = scriptedModel([reply({ text: "a" })]);
		expect((await play(scripted, [user], AbortSignal.abort())).events).toEqual(["error"]);
		expect(scripted.remaining).toBe(1);
	});

	it.each([
		["a call without result", [user, callOf("a")]],
		["a call whose result is late", [user, callOf("a"), user, resultOf("a")]],
		["a result without call", [user, resultOf("a")]],
		["a second result", [user, callOf("a"), resultOf("a"), resultOf("a")]],
		["a call id used twice", [user, callOf("a"), resultOf("a"), callOf("a"), resultOf("a")]],
		["a result for a failed call", [user, callOf("a", "error"), resultOf("a")]],
	])("refuses a transcript with %s", async (_, messages) => {
		const { message } = await play(scriptedModel([reply({ text: "a" })]), messages);
		expect(message.errorMessage).toMatch(/^400 invalid transcript: /);
	});

	it("accepts paired calls and failed answers without results", async () => {
		const messages = [user, callOf("a"), resultOf("a"), callOf("b", "aborted"), user];
		expect((await play(scriptedModel([reply({ text: "a" })]), messages)).message.stopReason).toBe("stop");
	});
});
