/** What chat completions servers refuse, the official one and the compatible ones that are stricter. */

import types from "../generated/chat.json" with { type: "json" };
import {
	estimateTokens,
	findDuplicate,
	findLoneSurrogate,
	findParametersFault,
	listObjects,
	parseObject,
	readDataUrl,
} from "../json.ts";
import type { Candidate, Problem, Rule } from "../rule.ts";
import { isObject } from "../shape.ts";
import { extendTypes, shapeRules } from "../shape-rules.ts";
import { findPairingFaults, type PairingFault } from "./pairing.ts";
import {
	describeEmptyList,
	describeKey,
	describeModel,
	describeOverflow,
	describeShape,
	describeToolName,
} from "./words.ts";

/** `reasoning_content` is no official field; servers of thinking models send it and want it back. */
const TYPES = extendTypes(types, { ChatCompletionAssistantMessageParam: { "reasoning_content?": "string | null" } });

const IMAGE_TYPES = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

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
	{ name: "tool-name", check: checkToolNames },
	{ name: "duplicate-tool", check: checkToolDuplicates },
	{ name: "tool-schema", check: checkToolSchemas },
	{ name: "tools-required", check: checkToolsRequired },
	{ name: "system-first", check: checkSystemFirst },
	{ name: "empty-assistant", check: checkEmptyAssistant },
	pairingRule("orphan-result", () => ({
		message:
			"Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
	})),
	pairingRule("missing-result", (fault) => ({
		message: `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${fault.ids.join(", ")}`,
	})),
	pairingRule("duplicate-call", (fault) => ({
		message: `Duplicate value for 'tool_calls[].id' of '${fault.ids[0]}'.`,
	})),
	pairingRule("duplicate-result", (fault) => ({
		message: `Duplicate value for 'tool_call_id' of '${fault.ids[0]}'.`,
	})),
	{ name: "call-arguments", check: checkArguments },
	{ name: "image-data", check: checkImages },
	{ name: "context-overflow", check: checkOverflow },
];

type Fields = Record<string, unknown>;

function readBody(candidate: Candidate): Fields {
	return isObject(candidate.body) ? candidate.body : {};
}

function readMessages(candidate: Candidate): Fields[] {
	return listObjects(readBody(candidate).messages);
}

function readTools(candidate: Candidate): Fields[] {
	return listObjects(readBody(candidate).tools).map((tool) => (isObject(tool.function) ? tool.function : {}));
}

function pairingRule(kind: PairingFault["kind"], describe: (fault: PairingFault) => Problem): Rule {
	return {
		name: kind,
		check: (candidate) => {
			const fault = findPairingFaults(readBody(candidate).messages).find((each) => each.kind === kind);
			return fault && { param: `messages.[${fault.index}].role`, ...describe(fault) };
		},
	};
}

function checkKey({ headers, options }: Candidate): Problem | undefined {
	const given = headers.authorization?.replace(/^Bearer /, "");
	return options.apiKey === undefined || given === options.apiKey ? undefined : describeKey(given);
}

function checkSurrogates({ body }: Candidate): Problem | undefined {
	if (findLoneSurrogate(body) === undefined) return undefined;
	return { message: "We could not parse the JSON body of your request: it holds an unpaired surrogate." };
}

function checkModel(candidate: Candidate): Problem | undefined {
	const model = readBody(candidate).model;
	const { models } = candidate.options;
	return models && typeof model === "string" && !models.includes(model) ? describeModel(model) : undefined;
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
	const body = readBody(candidate);
	const ranges = { temperature: [0, 2], top_p: [0, 1], max_tokens: [1], max_completion_tokens: [1] };
	for (const [name, [least = 0, most = Number.POSITIVE_INFINITY]] of Object.entries(ranges)) {
		const value = body[name];
		if (typeof value !== "number" || (value >= least && value <= most)) continue;
		const [side, sign, limit] = value < least ? ["below minimum", ">=", least] : ["above maximum", "<=", most];
		const message = `Invalid '${name}': number ${side} value. Expected a value ${sign} ${limit}, but got ${value} instead.`;
		return { message, param: name, code: `number_${side.replace(" ", "_")}_value` };
	}
	return undefined;
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

function checkToolNames(candidate: Candidate): Problem | undefined {
	for (const [index, tool] of readTools(candidate).entries()) {
		const name = tool.name;
		if (typeof name !== "string" || /^[a-zA-Z0-9_-]{1,64}$/.test(name)) continue;
		return describeToolName(`tools[${index}].function.name`, name);
	}
	return undefined;
}

function checkToolDuplicates(candidate: Candidate): Problem | undefined {
	const name = findDuplicate(
		readTools(candidate).flatMap((tool) => (typeof tool.name === "string" ? [tool.name] : [])),
	);
	return name === undefined ? undefined : { message: `Duplicate function name in 'tools': '${name}'.`, param: "tools" };
}

function checkToolSchemas(candidate: Candidate): Problem | undefined {
	for (const [index, tool] of readTools(candidate).entries()) {
		const fault = isObject(tool.parameters) ? findParametersFault(tool.parameters) : undefined;
		if (!fault) continue;
		const message = `Invalid schema for function '${String(tool.name)}': ${fault}`;
		return { message, param: `tools[${index}].function.parameters`, code: "invalid_function_parameters" };
	}
	return undefined;
}

function checkToolsRequired(candidate: Candidate): Problem | undefined {
	const body = readBody(candidate);
	if (body.tools !== undefined || body.functions !== undefined) return undefined;
	const name = ["tool_choice", "parallel_tool_calls"].find((field) => body[field] !== undefined);
	return name === undefined
		? undefined
		: { message: `'${name}' is only allowed when 'tools' are specified.`, param: name };
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
	for (const message of readMessages(candidate)) {
		for (const part of listObjects(message.content)) {
			const url = isObject(part.image_url) ? part.image_url.url : undefined;
			if (typeof url !== "string" || /^https?:\/\//.test(url)) continue;
			const image = readDataUrl(url);
			if (!image) return { message: "Invalid base64 image_url.", code: "invalid_base64" };
			if (IMAGE_TYPES.has(image.mimeType)) continue;
			const text =
				"You uploaded an unsupported image. Please make sure your image has of one the following formats: ['png', 'jpeg', 'gif', 'webp'].";
			return { message: text, code: "invalid_image_format" };
		}
	}
	return undefined;
}

function checkOverflow(candidate: Candidate): Problem | undefined {
	const { contextWindow } = candidate.options;
	const tokens = estimateTokens(readBody(candidate).messages);
	return contextWindow !== undefined && tokens > contextWindow ? describeOverflow(contextWindow, tokens) : undefined;
}
