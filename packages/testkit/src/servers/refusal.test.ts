/** Clients tell refusals apart by status and body: both must be the real ones. */

import { describe, expect, it } from "vitest";
import { startAnthropicServer } from "./anthropic/server.ts";
import { startChatServer } from "./chat/server.ts";
import { startGeminiServer } from "./gemini/server.ts";
import { startResponsesServer } from "./responses/server.ts";
import type { ServerOptions } from "./rule.ts";

const text = "word ".repeat(100);
const gemini = (model: string) => `/models/${model}:streamGenerateContent?alt=sse`;
const formats = {
	chat: {
		start: startChatServer,
		path: () => "/chat/completions",
		body: (model: string) => ({ model, stream: true, messages: [{ role: "user", content: text }] }),
		headers: (key: string) => ({ authorization: `Bearer ${key}` }),
	},
	responses: {
		start: startResponsesServer,
		path: () => "/responses",
		body: (model: string) => ({ model, stream: true, input: text }),
		headers: (key: string) => ({ authorization: `Bearer ${key}` }),
	},
	anthropic: {
		start: startAnthropicServer,
		path: () => "/v1/messages?beta=true",
		body: (model: string) => ({ model, stream: true, max_tokens: 5, messages: [{ role: "user", content: text }] }),
		headers: (key: string) => ({ "x-api-key": key, "anthropic-version": "2023-06-01" }),
	},
	gemini: {
		start: startGeminiServer,
		path: gemini,
		body: () => ({ contents: [{ role: "user", parts: [{ text }] }] }),
		headers: (key: string) => ({ "x-goog-api-key": key }),
	},
} as const;

/** Status and body of the answer to one request. */
async function ask(format: keyof typeof formats, options: ServerOptions, model = "m", key = "sk-wrong-key-1234") {
	const { start, path, body, headers } = formats[format];
	await using server = await start(options);
	const init = { method: "POST", body: JSON.stringify(body(model)), headers: headers(key) };
	const response = await fetch(server.baseUrl + path(model), init);
	return [response.status, await response.json()];
}

describe("a wrong key", () => {
	it.each(["chat", "responses"] as const)("is refused with 401 and invalid_api_key by %s", async (format) => {
		expect(await ask(format, { apiKey: "sk-right" })).toEqual([
			401,
			{
				error: {
					message:
						"Incorrect API key provided: sk-w****1234. You can find your API key at https://platform.openai.com/account/api-keys.",
					type: "invalid_request_error",
					param: null,
					code: "invalid_api_key",
				},
			},
		]);
	});

	it("is refused with 401 and authentication_error by Anthropic", async () => {
		expect(await ask("anthropic", { apiKey: "right" })).toEqual([
			401,
			{ type: "error", error: { type: "authentication_error", message: "invalid x-api-key" }, request_id: "req_mock" },
		]);
	});

	it("is refused with 400 and INVALID_ARGUMENT by Gemini", async () => {
		expect(await ask("gemini", { apiKey: "right" })).toEqual([
			400,
			{ error: { code: 400, message: "API key not valid. Please pass a valid API key.", status: "INVALID_ARGUMENT" } },
		]);
	});
});

describe("too long a conversation", () => {
	it("is refused with context_length_exceeded by chat completions", async () => {
		expect(await ask("chat", { contextWindow: 100 })).toEqual([
			400,
			{
				error: {
					message:
						"This model's maximum context length is 100 tokens. However, your messages resulted in 133 tokens. Please reduce the length of the messages.",
					type: "invalid_request_error",
					param: "messages",
					code: "context_length_exceeded",
				},
			},
		]);
	});

	it("is refused with context_length_exceeded by Responses", async () => {
		expect(await ask("responses", { contextWindow: 100 })).toEqual([
			400,
			{
				error: {
					message: "Your input exceeds the context window of this model. Please adjust your input and try again.",
					type: "invalid_request_error",
					param: "input",
					code: "context_length_exceeded",
				},
			},
		]);
	});

	it("is refused as too long a prompt by Anthropic", async () => {
		expect(await ask("anthropic", { contextWindow: 100 })).toMatchObject([
			400,
			{ error: { type: "invalid_request_error", message: "prompt is too long: 133 tokens > 100 maximum" } },
		]);
	});

	it("is refused by its token count by Gemini", async () => {
		const message = "The input token count (135) exceeds the maximum number of tokens allowed (100).";
		expect(await ask("gemini", { contextWindow: 100 })).toMatchObject([400, { error: { message } }]);
	});
});

describe("an unknown model", () => {
	it.each([
		["chat", { error: { code: "model_not_found", type: "invalid_request_error" } }],
		["responses", { error: { code: "model_not_found", type: "invalid_request_error" } }],
		["anthropic", { error: { type: "not_found_error", message: "model: m" } }],
		["gemini", { error: { code: 404, status: "NOT_FOUND" } }],
	] as const)("is refused with 404 by %s", async (format, body) => {
		expect(await ask(format, { models: ["other"] })).toMatchObject([404, body]);
	});
});

describe("a request with an unknown field", () => {
	it.each([
		["chat", "Unknown parameter: 'extra'."],
		["responses", "Unknown parameter: 'extra'."],
		["anthropic", "extra: Extra inputs are not permitted"],
		["gemini", 'Invalid JSON payload received. Unknown name "extra": Cannot find field.'],
	] as const)("is refused by %s in its own words", async (format, message) => {
		const { start, path, body, headers } = formats[format];
		await using server = await start();
		const init = { method: "POST", body: JSON.stringify({ ...body("m"), extra: 1 }), headers: headers("k") };
		const response = await fetch(server.baseUrl + path("m"), init);
		expect(await response.json()).toMatchObject({ error: { message } });
	});
});
