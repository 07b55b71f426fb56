/** What the OpenAI Responses API refuses. */

import types from "../generated/responses.json" with { type: "json" };
import { estimateTokens, listObjects, parseObject } from "../json.ts";
import {
	checkImageUrls,
	checkKey,
	checkModel,
	checkRanges,
	checkSurrogates,
	type DeclaredTool,
	listParts,
	readBody,
	toolRules,
} from "../openai/checks.ts";
import { describeEmptyList, describeShape } from "../openai/words.ts";
import { Pairing, type PairingFault, pairingRules } from "../pairing.ts";
import type { Candidate, Problem, Rule } from "../rule.ts";
import { extendTypes, shapeRules } from "../shape-rules.ts";
import { isSealedFor } from "../sign.ts";

/** The declarations say that `strict` is required; the server takes its absence for true. */
const TYPES = extendTypes(types, { FunctionTool: { "strict?": "boolean | null" } });

/** What ids of items begin with, by type. */
const ID_PREFIXES: Readonly<Record<string, string>> = { message: "msg", reasoning: "rs", function_call: "fc" };

/** Every rule in the order in which requests are checked. */
export const responsesRules: readonly Rule[] = [
	{ name: "api-key", check: checkKey },
	{ name: "lone-surrogate", check: checkSurrogates },
	...shapeRules(TYPES, "ResponseCreateParamsBase", describeShape),
	{ name: "required", check: checkRequired },
	{ name: "unknown-model", check: checkModel },
	{ name: "empty-list", check: checkLists },
	{ name: "number-range", check: checkNumbers },
	{ name: "stream-options", check: checkStreamOptions },
	...toolRules(readTools),
	{ name: "previous-response", check: checkPrevious },
	...pairingRules(findPairing, {
		"orphan-result": ({ ids }) => ({
			message: `No tool call found for function call output with call_id ${ids[0]}.`,
			param: "input",
		}),
		"missing-result": ({ ids }) => ({ message: `No tool output found for function call ${ids[0]}.`, param: "input" }),
		"duplicate-call": ({ ids }) => ({ message: `Duplicate function call with call_id ${ids[0]}.`, param: "input" }),
		"duplicate-result": ({ ids }) => ({
			message: `Duplicate function call output with call_id ${ids[0]}.`,
			param: "input",
		}),
	}),
	{ name: "item-id", check: checkIds },
	{ name: "duplicate-item", check: checkDuplicateItems },
	{ name: "unknown-item", check: checkUnknownItems },
	{ name: "encrypted-content", check: checkEncrypted },
	{ name: "lone-reasoning", check: checkLoneReasoning },
	{ name: "missing-reasoning", check: checkMissingReasoning },
	{ name: "call-arguments", check: checkArguments },
	{ name: "image-data", check: checkImages },
	{ name: "context-overflow", check: checkOverflow },
];

function readItems(candidate: Candidate): Record<string, unknown>[] {
	return listObjects(readBody(candidate).input);
}

function readTools(candidate: Candidate): DeclaredTool[] {
	return listObjects(readBody(candidate).tools).map(({ name, parameters }, index) => ({
		at: `tools[${index}]`,
		name,
		parameters,
	}));
}

/** Results may stand anywhere after their call. */
function findPairing(candidate: Candidate): readonly PairingFault[] {
	const pairing = new Pairing();
	for (const [index, item] of readItems(candidate).entries()) {
		if (item.type === "function_call") pairing.ask(String(item.call_id), String(index));
		if (item.type === "function_call_output") pairing.answer(String(item.call_id), String(index));
	}
	pairing.settle();
	return pairing.faults;
}

/** The declarations leave both out, for stored prompts, which the mock has not. */
function checkRequired(candidate: Candidate): Problem | undefined {
	const body = readBody(candidate);
	const name = ["model", "input"].find((field) => body[field] === undefined);
	if (name === undefined) return undefined;
	return { message: `Missing required parameter: '${name}'.`, param: name, code: "missing_required_parameter" };
}

function checkLists(candidate: Candidate): Problem | undefined {
	const { input, tools } = readBody(candidate);
	const lists: [string, unknown][] = [
		["input", input],
		["tools", tools],
		...readItems(candidate).map((item, index): [string, unknown] => [`input[${index}].content`, item.content]),
	];
	const empty = lists.find(([, list]) => Array.isArray(list) && list.length === 0);
	return empty && describeEmptyList(empty[0]);
}

function checkNumbers(candidate: Candidate): Problem | undefined {
	return checkRanges(candidate, { temperature: [0, 2], top_p: [0, 1], max_output_tokens: [16] });
}

function checkStreamOptions(candidate: Candidate): Problem | undefined {
	const { stream, stream_options } = readBody(candidate);
	if (typeof stream_options !== "object" || stream_options === null || stream === true) return undefined;
	return {
		message: "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
		param: "stream_options",
	};
}

/** The mock keeps no responses, as a server that is asked with `store: false`. */
function checkPrevious(candidate: Candidate): Problem | undefined {
	const id = readBody(candidate).previous_response_id;
	if (typeof id !== "string") return undefined;
	const message = `Previous response with id '${id}' not found.`;
	return { message, param: "previous_response_id", code: "previous_response_not_found" };
}

function checkIds(candidate: Candidate): Problem | undefined {
	for (const [index, item] of readItems(candidate).entries()) {
		const prefix = ID_PREFIXES[String(item.type)];
		if (prefix === undefined || typeof item.id !== "string") continue;
		const param = `input[${index}].id`;
		if (item.id.length > 64) {
			const message = `Invalid '${param}': string too long. Expected a string with maximum length 64, but got a string with length ${item.id.length} instead.`;
			return { message, param, code: "string_above_max_length" };
		}
		if (item.id.startsWith(prefix)) continue;
		const message = `Invalid '${param}': '${item.id}'. Expected an ID that begins with '${prefix}'.`;
		return { message, param, code: "invalid_value" };
	}
	return undefined;
}

function checkDuplicateItems(candidate: Candidate): Problem | undefined {
	const seen = new Set<unknown>();
	for (const item of readItems(candidate)) {
		if (typeof item.id !== "string") continue;
		if (seen.has(item.id))
			return {
				message: `Duplicate item found with id ${item.id}. Remove duplicate items from your input and try again.`,
				param: "input",
			};
		seen.add(item.id);
	}
	return undefined;
}

/** Nothing is stored: references, and reasoning without its content, point to nothing. */
function checkUnknownItems(candidate: Candidate): Problem | undefined {
	for (const item of readItems(candidate)) {
		const isReference = item.type === "item_reference" || (item.type === undefined && item.role === undefined);
		const isEmptied = item.type === "reasoning" && !item.encrypted_content;
		if ((!isReference && !isEmptied) || typeof item.id !== "string") continue;
		const message = `Item with id '${item.id}' not found. Items are not persisted when \`store\` is set to false. Try again with \`store\` set to true, or remove this item from your input.`;
		return { status: 404, message, param: "input" };
	}
	return undefined;
}

function checkEncrypted(candidate: Candidate): Problem | undefined {
	const model = String(readBody(candidate).model);
	for (const item of readItems(candidate)) {
		const content = item.type === "reasoning" ? item.encrypted_content : undefined;
		if (typeof content !== "string" || content === "" || isSealedFor(model, content)) continue;
		const message = `The encrypted content for item ${String(item.id)} could not be verified. Reason: Encrypted content could not be decrypted or parsed.`;
		return { message, code: "invalid_encrypted_content" };
	}
	return undefined;
}

/** Reasoning is followed by more reasoning or by what it led to. */
function checkLoneReasoning(candidate: Candidate): Problem | undefined {
	const items = readItems(candidate);
	for (const [index, item] of items.entries()) {
		if (item.type !== "reasoning") continue;
		const next = items[index + 1];
		if (next && (next.type === "reasoning" || next.type === "function_call" || next.role === "assistant")) continue;
		return {
			message: `Item '${String(item.id)}' of type 'reasoning' was provided without its required following item.`,
			param: "input",
		};
	}
	return undefined;
}

function checkMissingReasoning(candidate: Candidate): Problem | undefined {
	const items = readItems(candidate);
	for (const [index, item] of items.entries()) {
		const needed = typeof item.id === "string" ? /-needs-(.+)$/.exec(item.id)?.[1] : undefined;
		const before = items[index - 1];
		if (needed === undefined || (before?.type === "reasoning" && before.id === needed)) continue;
		const message = `Item '${String(item.id)}' of type '${String(item.type)}' was provided without its required 'reasoning' item: '${needed}'.`;
		return { message, param: "input" };
	}
	return undefined;
}

function checkArguments(candidate: Candidate): Problem | undefined {
	for (const [index, item] of readItems(candidate).entries()) {
		const text = item.type === "function_call" ? item.arguments : undefined;
		if (typeof text !== "string" || parseObject(text)) continue;
		const param = `input[${index}].arguments`;
		return { message: `Invalid '${param}': expected a JSON object, got ${JSON.stringify(text)}.`, param };
	}
	return undefined;
}

function checkImages(candidate: Candidate): Problem | undefined {
	const { input } = readBody(candidate);
	return checkImageUrls([...listParts(input, "content"), ...listParts(input, "output")].map((part) => part.image_url));
}

function checkOverflow(candidate: Candidate): Problem | undefined {
	const { contextWindow } = candidate.options;
	if (contextWindow === undefined || estimateTokens(readBody(candidate).input) <= contextWindow) return undefined;
	const message = "Your input exceeds the context window of this model. Please adjust your input and try again.";
	return { message, param: "input", code: "context_length_exceeded" };
}
