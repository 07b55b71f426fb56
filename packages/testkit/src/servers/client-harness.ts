/** The four formats with the real client library in front of each, for tests. */

import {
	type Api,
	type AssistantMessage,
	type Message,
	type Model,
	normalizeContext,
	type ProviderStreams,
	type Tool,
} from "@earendil-works/pi-ai";
import { startAnthropicServer } from "./anthropic/server.ts";
import { startChatServer } from "./chat/server.ts";
import { startGeminiServer } from "./gemini/server.ts";
import { startResponsesServer } from "./responses/server.ts";
import type { ServerOptions } from "./rule.ts";
import type { ModelServer } from "./server.ts";

/** One wire format: how its mock is started and how its client is called. */
export interface ClientCase {
	readonly name: string;
	readonly api: Api;
	readonly model: string;
	readonly start: (options?: ServerOptions) => Promise<ModelServer>;
	readonly load: () => Promise<Pick<ProviderStreams, "streamSimple">>;
}

/** All formats. */
export const CLIENT_CASES: readonly ClientCase[] = [
	{
		name: "chat completions",
		api: "openai-completions",
		model: "chat-model",
		start: startChatServer,
		load: async () => (await import("@earendil-works/pi-ai/api/openai-completions")) as ProviderStreams,
	},
	{
		name: "Anthropic",
		api: "anthropic-messages",
		model: "claude-opus-4-5",
		start: startAnthropicServer,
		load: async () => (await import("@earendil-works/pi-ai/api/anthropic-messages")) as ProviderStreams,
	},
	{
		name: "Responses",
		api: "openai-responses",
		model: "gpt-5",
		start: startResponsesServer,
		load: async () => (await import("@earendil-works/pi-ai/api/openai-responses")) as ProviderStreams,
	},
	{
		name: "Gemini",
		api: "google-generative-ai",
		model: "gemini-3-pro",
		start: startGeminiServer,
		load: async () => (await import("@earendil-works/pi-ai/api/google-generative-ai")) as ProviderStreams,
	},
];

const tools: Tool[] = [
	{
		name: "run",
		description: "Runs code.",
		parameters: { type: "object", properties: { code: { type: "string" } }, required: ["code"] },
	},
];

/** Asks a mock through the client of its format; `id` names another model than the usual one. */
export async function askServer(
	client: ClientCase,
	server: ModelServer,
	messages: Message[],
	options: { readonly signal?: AbortSignal; readonly id?: string } = {},
): Promise<AssistantMessage> {
	const model: Model<Api> = {
		id: options.id ?? client.model,
		name: "Mock",
		api: client.api,
		provider: client.name,
		baseUrl: server.baseUrl,
		input: ["text", "image"],
		cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
		reasoning: true,
		contextWindow: 100_000,
		maxTokens: 8_000,
	};
	const { streamSimple } = await client.load();
	const context = normalizeContext({ systemPrompt: "rules", messages, tools });
	const signal = options.signal ? { signal: options.signal } : {};
	return await streamSimple(model, context, { apiKey: "k", maxRetries: 0, reasoning: "medium", ...signal }).result();
}

/** A result for every call of an answer. */
export function answerCalls(message: AssistantMessage): Message[] {
	return message.content.flatMap((part): Message[] => {
		if (part.type !== "toolCall") return [];
		const content = [{ type: "text" as const, text: `result of ${part.name}` }];
		return [{ role: "toolResult", toolCallId: part.id, toolName: part.name, content, isError: false, timestamp: 2 }];
	});
}
