import type { AssistantMessage } from "@earendil-works/pi-ai";
import { expect, test } from "vitest";
import { emptyMessage } from "../faults.ts";
import { testModel } from "../testing/script.ts";
import { isContextOverflow } from "./overflow.ts";

const failed = (errorMessage: string, extra: Partial<AssistantMessage> = {}): AssistantMessage => ({
	...emptyMessage(testModel),
	stopReason: "error",
	errorMessage,
	...extra,
});

test.each([
	["Anthropic", "prompt is too long: 213462 tokens > 200000 maximum"],
	["Anthropic, output counted in", "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000"],
	[
		"Anthropic, bytes",
		'413 {"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}',
	],
	["Anthropic, stop reason", "model_context_window_exceeded"],
	["OpenAI, code", '400: {"message":"Too long","code":"context_length_exceeded"}'],
	[
		"OpenAI chat",
		"This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens. Please reduce the length of the messages.",
	],
	["OpenAI responses", "Your input exceeds the context window of this model. Please adjust your input and try again."],
	["Azure", "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300000 tokens."],
	["Gemini", "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."],
	["xAI", "This model's maximum prompt length is 131072 but the request contains 537812 tokens."],
	["Groq", "Please reduce the length of the messages or completion."],
	["Cerebras", "Please reduce the length of the messages or completion. Current length is 9000 while limit is 8192"],
	["OpenRouter", "This endpoint's maximum context length is 131072 tokens. However, you requested about 150000 tokens"],
	["Poolside", "Input length 150000 exceeds the maximum allowed input length of 131072 tokens."],
	["Together", "The input (150000 tokens) is longer than the model's context length (131072 tokens)."],
	["llama.cpp", "the request exceeds the available context size, try increasing it"],
	["LM Studio", "The number of tokens to keep from the initial prompt is greater than the context length."],
	["Ollama", "prompt too long; exceeded max context length by 12 tokens"],
	["vLLM", "The prompt (total length 40000) is too long to fit into the model (context length 32768)."],
	["vLLM, older", "Prompt length of 40000 is longer than the maximum model length of 32768."],
	["TGI", "Input validation error: `inputs` must have less than 4096 tokens. Given: 5000"],
	["Kimi", "Invalid request: Your request exceeded model token limit: 262144 (requested: 300000)"],
	[
		"Mistral",
		"Prompt contains 200000 tokens and 0 draft tokens, too large for model with 131072 maximum context length",
	],
	["DashScope", "Range of input length should be [1, 129024]"],
	["z.ai", "Prompt too long"],
	["Bedrock", "Input is too long for requested model."],
	["MiniMax", "invalid params, context window exceeds limit (2013)"],
	["Cohere", "too many tokens: size limit exceeded by 1000 tokens. Try using shorter or fewer inputs."],
	["Copilot", "prompt token count of 140000 exceeds the limit of 128000"],
	["DS4", "Prompt has 40000 tokens, but the configured context size is 32768 tokens"],
])("the wording of %s is a context overflow (P21)", (_server, text) => {
	expect(isContextOverflow(failed(text), 1_000_000)).toBe(true);
});

test.each([
	[
		"OpenAI's token rate",
		"429: Rate limit reached for gpt-4o on tokens per min (TPM): Limit 30000, Used 28000, Requested 5000. Please try again in 6s.",
	],
	[
		"OpenAI's token rate for one request",
		"429: Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 40000.",
	],
	[
		"Anthropic's token rate",
		"This request would exceed your organization's rate limit of 40,000 input tokens per minute.",
	],
	["Bedrock's throttling", "Too many tokens, please wait before trying again."],
	["an output limit", "400: max_tokens is too large: 100000. This model supports at most 16384 completion tokens."],
	["a thinking budget", "400: `max_tokens` must be greater than `thinking.budget_tokens`."],
	["a quota", "429: You exceeded your current quota, please check your plan and billing details."],
	["a day's tokens", "Daily token limit reached, tokens per day exceeded."],
	["an expired token", "401: Your token has expired."],
	["a long field", "400: Invalid 'metadata.name': string too long. Expected a string with maximum length 512."],
	["a long tool description", "400: tools.0.description is too long"],
	["an overload", "529: Overloaded"],
	["a server error", "500: Internal server error"],
])("the wording of %s is no context overflow (P21)", (_case, text) => {
	expect(isContextOverflow(failed(text), 1_000_000)).toBe(false);
});

test("a status of 413 is a context overflow whatever its words", () => {
	expect(isContextOverflow(failed("413 status code (no body)"), 1_000)).toBe(true);
});

test("patterns of the settings are tried too, and as often as asked", () => {
	const message = failed("400: Kontext zu lang");
	const patterns = [/kontext zu lang/gi];
	expect(isContextOverflow(message, 1_000)).toBe(false);
	expect([isContextOverflow(message, 1_000, patterns), isContextOverflow(message, 1_000, patterns)]).toEqual([
		true,
		true,
	]);
});

test("an unexplained 400 for a request that filled 95 % of the window is a context overflow (P21)", () => {
	const message = failed("400: Bad request");
	expect(isContextOverflow(message, 1_000, [], 949)).toBe(false);
	expect(isContextOverflow(message, 1_000, [], 950)).toBe(true);
});

test("an explained refusal of a long request is no context overflow", () => {
	expect(isContextOverflow(failed("401: Invalid API key"), 1_000, [], 999)).toBe(false);
});

test("a reply that reports more input than the window holds is a context overflow without any error", () => {
	const usage = { ...emptyMessage(testModel).usage, input: 2_000, output: 5, totalTokens: 2_005 };
	expect(isContextOverflow({ ...emptyMessage(testModel), stopReason: "stop", usage }, 1_000)).toBe(true);
	expect(isContextOverflow({ ...emptyMessage(testModel), stopReason: "stop", usage }, 10_000)).toBe(false);
});
