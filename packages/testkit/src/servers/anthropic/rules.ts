/** What the Anthropic Messages API refuses. */

import types from "../generated/anthropic.json" with { type: "json" };
import {
	estimateTokens,
	findDuplicate,
	findParametersFault,
	hasLoneSurrogate,
	isBase64,
	listObjects,
} from "../json.ts";
import { pairingRules } from "../pairing.ts";
import type { Candidate, Problem, Rule } from "../rule.ts";
import { isObject } from "../shape.ts";
import { shapeRules } from "../shape-rules.ts";
import { isSealedFor, signText } from "../sign.ts";
import { extendByBetas, isEffortChange } from "./betas.ts";
import { findTurnFaults, listAllBlocks, listTurns } from "./turns.ts";
import { describeShape } from "./words.ts";

/** Every rule in the order in which requests are checked. */
export const anthropicRules: readonly Rule[] = [
	{ name: "api-key", check: checkKey },
	{ name: "version-header", check: checkVersion },
	{ name: "lone-surrogate", check: checkSurrogates },
	...shapeRules(extendByBetas(types), "MessageCreateParamsBase", describeShape),
	{ name: "unknown-model", check: checkModel },
	{ name: "no-messages", check: checkMessages },
	{ name: "first-role", check: checkFirstRole },
	{ name: "last-role", check: checkLastRole },
	{ name: "empty-content", check: checkEmptyContent },
	{ name: "empty-text", check: checkEmptyText },
	{ name: "number-range", check: checkNumbers },
	{ name: "thinking-budget", check: checkBudget },
	{ name: "thinking-temperature", check: checkTemperature },
	{ name: "tool-name", check: checkToolNames },
	{ name: "duplicate-tool", check: checkToolDuplicates },
	{ name: "tool-schema", check: checkToolSchemas },
	{ name: "tools-required", check: checkToolsRequired },
	{ name: "call-id", check: checkCallIds },
	{ name: "call-input", check: checkInputs },
	...pairingRules((candidate) => findTurnFaults(readBody(candidate).messages), {
		"orphan-result": ({ at, ids }) => ({
			message: `${at}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${ids[0]}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`,
		}),
		"missing-result": ({ at, ids }) => ({
			message: `${at}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${ids.join(", ")}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`,
		}),
		"duplicate-call": ({ at }) => ({ message: `${at}: \`tool_use\` ids must be unique` }),
		"duplicate-result": ({ at, ids }) => ({
			message: `${at}: each tool_use must have a single result. Found multiple \`tool_result\` blocks with id: ${ids[0]}`,
		}),
	}),
	{ name: "results-first", check: checkResultsFirst },
	{ name: "thinking-signature", check: checkSignatures },
	{ name: "thinking-last", check: checkThinkingLast },
	{ name: "cache-control", check: checkCacheControl },
	{ name: "image-data", check: checkImages },
	{ name: "context-overflow", check: checkOverflow },
];

function readBody(candidate: Candidate): Record<string, unknown> {
	return isObject(candidate.body) ? candidate.body : {};
}

/** Own tools; those that the server runs have a type of their own. */
function readTools(candidate: Candidate): Record<string, unknown>[] {
	return listObjects(readBody(candidate).tools).filter((tool) => tool.type === undefined || tool.type === "custom");
}

function checkKey({ headers, options }: Candidate): Problem | undefined {
	if (options.apiKey === undefined) return undefined;
	const given = headers["x-api-key"] ?? headers.authorization?.replace(/^Bearer /, "");
	if (given === undefined) return { status: 401, message: "x-api-key header is required" };
	return given === options.apiKey ? undefined : { status: 401, message: "invalid x-api-key" };
}

function checkVersion({ headers }: Candidate): Problem | undefined {
	return headers["anthropic-version"] === undefined ? { message: "anthropic-version: header is required" } : undefined;
}

function checkSurrogates({ body }: Candidate): Problem | undefined {
	if (!hasLoneSurrogate(body)) return undefined;
	return { message: "The request body is not valid JSON: no low surrogate in string" };
}

function checkModel(candidate: Candidate): Problem | undefined {
	const { model } = readBody(candidate);
	const { models } = candidate.options;
	if (!models || typeof model !== "string" || models.includes(model)) return undefined;
	return { status: 404, message: `model: ${model}` };
}

function checkMessages(candidate: Candidate): Problem | undefined {
	const { messages } = readBody(candidate);
	if (!Array.isArray(messages) || messages.length > 0) return undefined;
	return { message: "messages: at least one message is required" };
}

function checkFirstRole(candidate: Candidate): Problem | undefined {
	const first = listTurns(readBody(candidate).messages)[0];
	return first?.role === "assistant" ? { message: 'messages: first message must use the "user" role' } : undefined;
}

function checkLastRole(candidate: Candidate): Problem | undefined {
	const messages = listObjects(readBody(candidate).messages).filter((message) => !isEffortChange(message));
	const last = listTurns(messages).at(-1);
	if (last?.role !== "assistant" || last.blocks.some(({ block }) => block.type === "tool_use")) return undefined;
	const message =
		"This model does not support assistant message prefill. The conversation must end with a user message.";
	return { message };
}

function checkEmptyContent(candidate: Candidate): Problem | undefined {
	const messages = listObjects(readBody(candidate).messages);
	const isEmpty = ({ content }: Record<string, unknown>) =>
		content === "" || (Array.isArray(content) && content.length === 0);
	const index = messages.findIndex((message) => isEmpty(message) && !isEffortChange(message));
	if (index < 0) return undefined;
	return {
		message: `messages.${index}: all messages must have non-empty content except for the optional final assistant message`,
	};
}

function checkEmptyText(candidate: Candidate): Problem | undefined {
	const { messages, system } = readBody(candidate);
	const inSystem = listObjects(system).map((block, index) => ({ at: `system.${index}`, block }));
	for (const { at, block } of [...inSystem, ...listAllBlocks(messages)]) {
		if (block.type !== "text" || typeof block.text !== "string" || block.text.trim() !== "") continue;
		const kind = block.text === "" ? "be non-empty" : "contain non-whitespace text";
		return { message: `${at.split(".")[0]}: text content blocks must ${kind}` };
	}
	return undefined;
}

function checkNumbers(candidate: Candidate): Problem | undefined {
	const { temperature, top_p, max_tokens } = readBody(candidate);
	for (const [name, value] of Object.entries({ temperature, top_p })) {
		if (typeof value === "number" && (value < 0 || value > 1)) return { message: `${name}: range: 0..1` };
	}
	if (typeof max_tokens !== "number" || max_tokens >= 0) return undefined;
	return { message: "max_tokens: must be greater than or equal to 0" };
}

function checkBudget(candidate: Candidate): Problem | undefined {
	const { thinking, max_tokens } = readBody(candidate);
	if (!isObject(thinking) || typeof thinking.budget_tokens !== "number") return undefined;
	if (thinking.budget_tokens < 1024) {
		return { message: "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024" };
	}
	if (typeof max_tokens !== "number" || max_tokens > thinking.budget_tokens) return undefined;
	return { message: "`max_tokens` must be greater than `thinking.budget_tokens`." };
}

function checkTemperature(candidate: Candidate): Problem | undefined {
	const { thinking, temperature } = readBody(candidate);
	const isThinking = isObject(thinking) && (thinking.type === "enabled" || thinking.type === "adaptive");
	if (!isThinking || typeof temperature !== "number" || temperature === 1) return undefined;
	return { message: "`temperature` may only be set to 1 when thinking is enabled." };
}

function checkToolNames(candidate: Candidate): Problem | undefined {
	const index = readTools(candidate).findIndex(
		({ name }) => typeof name === "string" && !/^[a-zA-Z0-9_-]{1,128}$/.test(name),
	);
	if (index < 0) return undefined;
	return { message: `tools.${index}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'` };
}

function checkToolDuplicates(candidate: Candidate): Problem | undefined {
	const names = listObjects(readBody(candidate).tools).map((tool) => tool.name);
	const isDouble = findDuplicate(names.filter((name) => typeof name === "string")) !== undefined;
	return isDouble ? { message: "tools: Tool names must be unique." } : undefined;
}

function checkToolSchemas(candidate: Candidate): Problem | undefined {
	for (const [index, tool] of readTools(candidate).entries()) {
		const schema = tool.input_schema;
		// Type and required are declared fields, whose shape other rules check.
		if (!isObject(schema) || schema.type !== "object" || !Array.isArray(schema.required ?? [])) continue;
		const fault = findParametersFault(schema);
		if (!fault) continue;
		const at = `tools.${index}.custom.input_schema`;
		return { message: `${at}: JSON schema is invalid. It must match JSON Schema draft 2020-12: ${fault}` };
	}
	return undefined;
}

function checkToolsRequired(candidate: Candidate): Problem | undefined {
	const { messages, tools } = readBody(candidate);
	const isUsed = listAllBlocks(messages).some(({ block }) => block.type === "tool_use" || block.type === "tool_result");
	if (!isUsed || (Array.isArray(tools) && tools.length > 0)) return undefined;
	return { message: "Requests which include `tool_use` or `tool_result` blocks must define tools." };
}

function checkCallIds(candidate: Candidate): Problem | undefined {
	for (const { at, block } of listAllBlocks(readBody(candidate).messages)) {
		const id = block.type === "tool_use" ? block.id : undefined;
		if (typeof id !== "string" || /^[a-zA-Z0-9_-]+$/.test(id)) continue;
		return { message: `${at}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'` };
	}
	return undefined;
}

function checkInputs(candidate: Candidate): Problem | undefined {
	const wrong = listAllBlocks(readBody(candidate).messages).find(
		({ block }) => block.type === "tool_use" && block.input !== undefined && !isObject(block.input),
	);
	return wrong && { message: `${wrong.at}.tool_use.input: Input should be a valid dictionary` };
}

function checkResultsFirst(candidate: Candidate): Problem | undefined {
	for (const { at, blocks } of listTurns(readBody(candidate).messages)) {
		const other = blocks.findIndex(({ block }) => block.type !== "tool_result");
		const isLate = other >= 0 && blocks.some(({ block }, index) => index > other && block.type === "tool_result");
		if (isLate) return { message: `${at}: \`tool_result\` blocks must come before other content` };
	}
	return undefined;
}

/** Thinking is taken back only as this kind of server gave it: for the same model and with the same text. */
function checkSignatures(candidate: Candidate): Problem | undefined {
	const body = readBody(candidate);
	const model = String(body.model);
	for (const { at, block } of listAllBlocks(body.messages)) {
		if (block.type === "thinking" && typeof block.thinking === "string" && typeof block.signature === "string") {
			if (block.signature === signText(model, block.thinking)) continue;
			return { message: `${at}: Invalid \`signature\` in \`thinking\` block` };
		}
		if (block.type === "redacted_thinking" && typeof block.data === "string" && !isSealedFor(model, block.data)) {
			return { message: `${at}: Invalid \`data\` in \`redacted_thinking\` block` };
		}
	}
	return undefined;
}

function checkThinkingLast(candidate: Candidate): Problem | undefined {
	const isThinking = (type: unknown) => type === "thinking" || type === "redacted_thinking";
	for (const message of listObjects(readBody(candidate).messages)) {
		const last = listObjects(message.content).at(-1);
		if (message.role !== "assistant" || !isThinking(last?.type)) continue;
		return { message: "messages: The final block in an assistant message cannot be `thinking`." };
	}
	return undefined;
}

function checkCacheControl(candidate: Candidate): Problem | undefined {
	const { system, tools, messages } = readBody(candidate);
	const blocks = [...listObjects(system), ...listObjects(tools), ...listAllBlocks(messages).map(({ block }) => block)];
	const count = blocks.filter((block) => isObject(block.cache_control)).length;
	if (count <= 4) return undefined;
	return { message: `A maximum of 4 blocks with cache_control may be provided. Found ${count}.` };
}

function checkImages(candidate: Candidate): Problem | undefined {
	for (const { at, block } of listAllBlocks(readBody(candidate).messages)) {
		const data = block.type === "image" && isObject(block.source) ? block.source.data : undefined;
		if (typeof data === "string" && !isBase64(data)) {
			return { message: `${at}.image.source.base64: invalid base64 data` };
		}
	}
	return undefined;
}

function checkOverflow(candidate: Candidate): Problem | undefined {
	const { contextWindow } = candidate.options;
	const tokens = estimateTokens(readBody(candidate).messages);
	if (contextWindow === undefined || tokens <= contextWindow) return undefined;
	return { message: `prompt is too long: ${tokens} tokens > ${contextWindow} maximum` };
}
