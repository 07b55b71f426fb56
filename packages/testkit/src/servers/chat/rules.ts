/** What chat completions servers refuse, the official one and the compatible ones that are stricter. */

import types from "../generated/chat.json" with { type: "json" };
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
import { describeEmptyList, describeOverflow, describeShape } from "../openai/words.ts";
import { Pairing, type PairingFault, pairingRules } from "../pairing.ts";
import type { Candidate, Problem, Rule } from "../rule.ts";
import { isObject } from "../shape.ts";
import { extendTypes, shapeRules } from "../shape-rules.ts";

/** `reasoning_content` is no official field; servers of thinking models send it and want it back. */
const TYPES = extendTypes(types, { ChatCompletionAssistantMessageParam: { "reasoning_content?": "string | null" } });

/** Every rule in the order in which requests are checked. */
export const chatRules: readonly Rule[] = [
	{ name: "api-key", check: checkKey },
	{ name: "lone-surrogate", check: checkSurrogates },
	...shapeRules(TYPES, "ChatCompletionCreateParamsBase", describeShape),
	{ name: "unknown-model", check: checkModel },
	{ name: "empty-list", check: checkLists },
	{ name: "number-range", check: checkNumbers },
	{ name: "stream-options", check: checkStreamOptions },
	{ name: "max-tokens", check: checkMaxTokens },
	...toolRules(readTools),
	{ name: "system-first", check: checkSystemFirst },
	{ name: "empty-assistant", check: checkEmptyAssistant },
	...pairingRules(findPairing, {
		"orphan-result": ({ at }) => ({
			message:
				"Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
			param: `messages.[${at}].role`,
		}),
		"missing-result": ({ at, ids }) => ({
			message: `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${ids.join(", ")}`,
			param: `messages.[${at}].role`,
		}),
		"duplicate-call": ({ ids }) => ({ message: `Duplicate value for 'tool_calls[].id' of '${ids[0]}'.` }),
		"duplicate-result": ({ ids }) => ({ message: `Duplicate value for 'tool_call_id' of '${ids[0]}'.` }),
	}),
	{ name: "call-arguments", check: checkArguments },
	{ name: "image-data", check: checkImages },
	{ name: "context-overflow", check: checkOverflow },
];

type Fields = Record<string, unknown>;

function readMessages(candidate: Candidate): Fields[] {
	return listObjects(readBody(candidate).messages);
}

function readTools(candidate: Candidate): DeclaredTool[] {
	return listObjects(readBody(candidate).tools).map((tool, index) => {
		const { name, parameters } = isObject(tool.function) ? tool.function : {};
		return { at: `tools[${index}].function`, name, parameters };
	});
}

function findPairing(candidate: Candidate): readonly PairingFault[] {
	const pairing = new Pairing();
	for (const [index, message] of readMessages(candidate).entries()) {
		const at = String(index);
		if (message.role === "tool") {
			pairing.answer(String(message.tool_call_id), at);
			continue;
		}
		pairing.settle();
		for (const call of listObjects(message.tool_calls)) pairing.ask(String(call.id), at);
	}
	pairing.settle();
	return pairing.faults;
}

function checkLists(candidate: Candidate): Problem | undefined {
	const body = readBody(candidate);
	const lists: [string, unknown][] = [
		["messages", body.messages],
		["tools", body.tools],
	];
	for (const [index, message] of readMessages(candidate).entries()) {
		lists.push([`messages[${index}].content`, message.content], [`messages[${index}].tool_calls`, message.tool_calls]);
	}
	const empty = lists.find(([, list]) => Array.isArray(list) && list.length === 0);
	return empty && describeEmptyList(empty[0]);
}

function checkNumbers(candidate: Candidate): Problem | undefined {
	return checkRanges(candidate, { temperature: [0, 2], top_p: [0, 1], max_tokens: [1], max_completion_tokens: [1] });
}

function checkStreamOptions(candidate: Candidate): Problem | undefined {
	const body = readBody(candidate);
	if (!isObject(body.stream_options) || body.stream === true) return undefined;
	return {
		message: "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
		param: "stream_options",
	};
}

function checkMaxTokens(candidate: Candidate): Problem | undefined {
	const body = readBody(candidate);
	if (typeof body.max_tokens !== "number" || typeof body.max_completion_tokens !== "number") return undefined;
	return { message: "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported." };
}

function checkSystemFirst(candidate: Candidate): Problem | undefined {
	const roles = readMessages(candidate).map((message) => message.role);
	const isSystem = (role: unknown) => role === "system" || role === "developer";
	const talk = roles.findIndex((role) => !isSystem(role));
	const late = talk < 0 ? -1 : roles.findIndex((role, index) => index > talk && isSystem(role));
	if (late < 0) return undefined;
	const message = "Invalid parameter: messages with role 'system' or 'developer' must come before all other messages.";
	return { message, param: `messages.[${late}].role` };
}

function checkEmptyAssistant(candidate: Candidate): Problem | undefined {
	const index = readMessages(candidate).findIndex(
		(message) =>
			message.role === "assistant" &&
			!message.content &&
			!message.refusal &&
			!message.audio &&
			message.tool_calls === undefined &&
			message.function_call === undefined,
	);
	if (index < 0) return undefined;
	const message = "Invalid value for 'content': expected a string, got null.";
	return { message, param: `messages.[${index}].content` };
}

function checkArguments(candidate: Candidate): Problem | undefined {
	for (const [index, message] of readMessages(candidate).entries()) {
		for (const [at, call] of listObjects(message.tool_calls).entries()) {
			const text = isObject(call.function) ? call.function.arguments : undefined;
			if (typeof text !== "string" || parseObject(text)) continue;
			const param = `messages[${index}].tool_calls[${at}].function.arguments`;
			return { message: `Invalid '${param}': expected a JSON object, got ${JSON.stringify(text)}.`, param };
		}
	}
	return undefined;
}

function checkImages(candidate: Candidate): Problem | undefined {
	const parts = listParts(readBody(candidate).messages, "content");
	return checkImageUrls(parts.map((part) => (isObject(part.image_url) ? part.image_url.url : undefined)));
}

function checkOverflow(candidate: Candidate): Problem | undefined {
	const { contextWindow } = candidate.options;
	const tokens = estimateTokens(readBody(candidate).messages);
	return contextWindow !== undefined && tokens > contextWindow ? describeOverflow(contextWindow, tokens) : undefined;
}
