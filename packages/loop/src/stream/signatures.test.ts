import type { AssistantMessage, Message } from "@earendil-works/pi-ai";
import { normalizeContext } from "@earendil-works/pi-ai/utils/transcript";
import { reply, startGeminiServer } from "@prime-agent/testkit";
import { expect, test } from "vitest";
import { emptyMessage } from "../faults.ts";
import { textOf } from "../testing/script.ts";
import { canaryKey, modelAt } from "../testing/server.ts";
import { streamByApi } from "./apis.ts";
import { guardStream } from "./guard.ts";

const other = { id: "other", api: "openai-completions", provider: "other" };

function callOf(model: typeof other, ...ids: readonly string[]): AssistantMessage {
	const content = ids.map((id) => ({ type: "toolCall" as const, id, name: "run", arguments: {} }));
	return { ...emptyMessage(model), content, stopReason: "toolUse" };
}

const result = (toolCallId: string): Message => ({
	role: "toolResult",
	toolCallId,
	toolName: "run",
	content: [{ type: "text", text: "1" }],
	isError: false,
	timestamp: 1,
});

async function ask(id: string, onPayload?: (payload: unknown) => unknown) {
	await using server = await startGeminiServer();
	server.script(reply({ text: "ok" }));
	const messages: Message[] = [
		{ role: "user", content: "go", timestamp: 1 },
		callOf(other, "a", "b"),
		result("a"),
		result("b"),
	];
	const tools = [{ name: "run", description: "Runs", parameters: { type: "object", properties: {} } }];
	const context = normalizeContext({ systemPrompt: "x", tools, messages });
	const model = { ...modelAt(server.baseUrl, "google-generative-ai"), id };
	const request = { apiKey: canaryKey, ...(onPayload ? { onPayload } : {}) };
	const message = await (await guardStream({ streamFn: streamByApi })(model, context, request)).result();
	const { contents } = server.modelRequests.at(-1)!.body;
	return { message, rejections: server.rejections, calls: contents[1].parts, contents };
}

test("a model that wants signatures takes over in the middle of another model's work", async () => {
	const { message, rejections, calls } = await ask("gemini-3-pro");
	expect([textOf(message), rejections]).toEqual(["ok", []]);
	expect(calls.map((part: { thoughtSignature?: string }) => part.thoughtSignature)).toEqual([
		"skip_thought_signature_validator",
		undefined,
	]);
});

test("an older model gets no stand-ins", async () => {
	const { message, calls } = await ask("gemini-2.5-pro");
	expect(textOf(message)).toBe("ok");
	expect(JSON.stringify(calls)).not.toContain("thoughtSignature");
});

test("what the caller does with a payload still counts", async () => {
	const { contents, calls } = await ask("gemini-3-pro", (payload) => {
		const { contents: list, ...rest } = payload as { contents: { parts: object[] }[] };
		return { ...rest, contents: list.with(0, { ...list[0]!, parts: [{ text: "changed" }] }) };
	});
	expect(contents[0].parts).toEqual([{ text: "changed" }]);
	expect(calls[0].thoughtSignature).toBeDefined();
});
