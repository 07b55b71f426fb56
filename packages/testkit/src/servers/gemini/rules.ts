/** What the Gemini API refuses. */

import types from "../generated/gemini.json" with { type: "json" };
import {
	estimateTokens,
	findDuplicate,
	findParametersFault,
	hasLoneSurrogate,
	isBase64,
	listObjects,
} from "../json.ts";
import type { Candidate, Problem, Rule } from "../rule.ts";
import { isObject } from "../shape.ts";
import { shapeRules } from "../shape-rules.ts";
import type { TypeTable } from "../type-text.ts";
import { readModel } from "./encode.ts";
import { isIssued } from "./signature.ts";
import { describeShape } from "./words.ts";

/** The request itself is not declared in the SDK, which spreads its fields over options of its own. */
export const GEMINI_REQUEST = {
	contents: "Array<Content>",
	"tools?": "Array<Tool>",
	"toolConfig?": "ToolConfig",
	"safetySettings?": "Array<SafetySetting>",
	"systemInstruction?": "Content",
	"generationConfig?": "GenerationConfig",
	"cachedContent?": "string",
} as const;

const TYPES: TypeTable = { ...types, GenerateContentRequest: GEMINI_REQUEST };

/** Every rule in the order in which requests are checked. */
export const geminiRules: readonly Rule[] = [
	{ name: "api-key", check: checkKey },
	{ name: "lone-surrogate", check: checkSurrogates },
	...shapeRules(TYPES, "GenerateContentRequest", describeShape),
	{ name: "unknown-model", check: checkModel },
	{ name: "no-contents", check: checkContents },
	{ name: "role", check: checkRoles },
	{ name: "last-role", check: checkLastRole },
	{ name: "empty-parts", check: checkParts },
	{ name: "empty-part", check: checkPartData },
	{ name: "number-range", check: checkNumbers },
	{ name: "tool-name", check: checkToolNames },
	{ name: "duplicate-tool", check: checkToolDuplicates },
	{ name: "tool-schema", check: checkToolSchemas },
	{ name: "call-order", check: checkCallOrder },
	{ name: "response-order", check: checkResponseOrder },
	{ name: "response-count", check: checkResponseCount },
	{ name: "response-match", check: checkResponseMatch },
	{ name: "missing-signature", check: checkMissingSignatures },
	{ name: "invalid-signature", check: checkSignatures },
	{ name: "image-data", check: checkImages },
	{ name: "context-overflow", check: checkOverflow },
];

type Fields = Record<string, unknown>;

/** One message with its calls and results. */
interface Content {
	readonly role: unknown;
	readonly parts: readonly Fields[];
	readonly calls: readonly Fields[];
	readonly responses: readonly Fields[];
}

function readBody(candidate: Candidate): Fields {
	return isObject(candidate.body) ? candidate.body : {};
}

const known = new WeakMap<Candidate, readonly Content[]>();

function readContents(candidate: Candidate): readonly Content[] {
	const found = known.get(candidate) ?? listContents(readBody(candidate).contents);
	known.set(candidate, found);
	return found;
}

function listContents(contents: unknown): readonly Content[] {
	return listObjects(contents).map(({ role = "user", parts }) => ({
		role,
		parts: listObjects(parts),
		calls: listObjects(parts).flatMap((part) => (isObject(part.functionCall) ? [part.functionCall] : [])),
		responses: listObjects(parts).flatMap((part) => (isObject(part.functionResponse) ? [part.functionResponse] : [])),
	}));
}

function readTools(candidate: Candidate): Fields[] {
	return listObjects(readBody(candidate).tools).flatMap((tool) => listObjects(tool.functionDeclarations));
}

function checkKey({ headers, options }: Candidate): Problem | undefined {
	const given = headers["x-goog-api-key"];
	if (options.apiKey === undefined || given === options.apiKey) return undefined;
	if (given !== undefined) return { message: "API key not valid. Please pass a valid API key." };
	const message =
		"Method doesn't allow unregistered callers (callers without established identity). Please use API Key or other form of API consumer identity to call this API.";
	return { status: 403, message };
}

function checkSurrogates({ body }: Candidate): Problem | undefined {
	if (!hasLoneSurrogate(body)) return undefined;
	return { message: "Invalid JSON payload received. Unpaired surrogate in string." };
}

function checkModel({ path, options }: Candidate): Problem | undefined {
	const model = readModel(path);
	if (!options.models || options.models.includes(model)) return undefined;
	const message = `models/${model} is not found for API version v1beta, or is not supported for generateContent. Call ListModels to see the list of available models and their supported methods.`;
	return { status: 404, message };
}

function checkContents(candidate: Candidate): Problem | undefined {
	const { contents } = readBody(candidate);
	if (!Array.isArray(contents) || contents.length > 0) return undefined;
	return { message: "* GenerateContentRequest.contents: contents is not specified" };
}

function checkRoles(candidate: Candidate): Problem | undefined {
	const isWrong = readContents(candidate).some(
		({ role }) => typeof role === "string" && role !== "user" && role !== "model",
	);
	return isWrong ? { message: "Please use a valid role: user, model." } : undefined;
}

function checkLastRole(candidate: Candidate): Problem | undefined {
	const last = readContents(candidate).at(-1);
	if (last?.role !== "model" || last.calls.length > 0) return undefined;
	return { message: "Please ensure that multiturn requests end with a user role." };
}

function checkParts(candidate: Candidate): Problem | undefined {
	const contents = listObjects(readBody(candidate).contents);
	const index = contents.findIndex(({ parts }) => parts === undefined || (Array.isArray(parts) && parts.length === 0));
	if (index < 0) return undefined;
	return { message: `* GenerateContentRequest.contents[${index}].parts: contents.parts must not be empty.` };
}

function checkPartData(candidate: Candidate): Problem | undefined {
	const fields = [
		"text",
		"functionCall",
		"functionResponse",
		"inlineData",
		"fileData",
		"executableCode",
		"codeExecutionResult",
	];
	for (const [index, { parts }] of readContents(candidate).entries()) {
		const at = parts.findIndex((part) => !fields.some((field) => part[field] !== undefined));
		if (at < 0) continue;
		const place = `contents[${index}].parts[${at}].data`;
		return {
			message: `* GenerateContentRequest.${place}: required oneof field 'data' must have one initialized field`,
		};
	}
	return undefined;
}

function checkNumbers(candidate: Candidate): Problem | undefined {
	const { generationConfig } = readBody(candidate);
	const { temperature, topP, maxOutputTokens } = isObject(generationConfig) ? generationConfig : {};
	for (const [name, value, least, most] of [
		["temperature", temperature, 0, 2],
		["topP", topP, 0, 1],
		["maxOutputTokens", maxOutputTokens, 1, 1_000_000],
	] as const) {
		if (typeof value !== "number" || (value >= least && value <= most)) continue;
		const range = `${least} (inclusive) to ${most} (inclusive)`;
		return {
			message: `Unable to submit request because it has a ${name} value of ${value} but the supported range is from ${range}.`,
		};
	}
	return undefined;
}

function checkToolNames(candidate: Candidate): Problem | undefined {
	const isRight = (name: unknown) => typeof name !== "string" || /^[A-Za-z_][\w.:-]{0,63}$/.test(name);
	const index = readTools(candidate).findIndex(({ name }) => name === undefined || !isRight(name));
	if (index < 0) return undefined;
	const message = `* GenerateContentRequest.tools[0].function_declarations[${index}].name: Invalid function name. Must start with a letter or an underscore. Must be alphameric (a-z, A-Z, 0-9), underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of 64.`;
	return { message };
}

function checkToolDuplicates(candidate: Candidate): Problem | undefined {
	const names = readTools(candidate).flatMap(({ name }) => (typeof name === "string" ? [name] : []));
	const name = findDuplicate(names);
	return name === undefined ? undefined : { message: `Duplicate function declaration found: ${name}` };
}

function checkToolSchemas(candidate: Candidate): Problem | undefined {
	for (const [index, tool] of readTools(candidate).entries()) {
		const schema = tool.parametersJsonSchema;
		const fault = schema === undefined ? undefined : findParametersFault(schema);
		if (!fault) continue;
		const at = `tools[0].function_declarations[${index}].parameters_json_schema`;
		return { message: `* GenerateContentRequest.${at}: ${fault}` };
	}
	return undefined;
}

function checkCallOrder(candidate: Candidate): Problem | undefined {
	const contents = readContents(candidate);
	const isWrong = contents.some(({ calls }, index) => calls.length > 0 && contents[index - 1]?.role !== "user");
	if (!isWrong) return undefined;
	return {
		message:
			"Please ensure that function call turn comes immediately after a user turn or after a function response turn.",
	};
}

function checkResponseOrder(candidate: Candidate): Problem | undefined {
	const contents = readContents(candidate);
	const isWrong = contents.some(({ responses }, index) => responses.length > 0 && !contents[index - 1]?.calls.length);
	if (!isWrong) return undefined;
	return { message: "Please ensure that function response turn comes immediately after a function call turn." };
}

function checkResponseCount(candidate: Candidate): Problem | undefined {
	const contents = readContents(candidate);
	const isWrong = contents.some(
		({ calls }, index) => calls.length > 0 && contents[index + 1]?.responses.length !== calls.length,
	);
	if (!isWrong) return undefined;
	return {
		message:
			"Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.",
	};
}

/** Results name the functions that were called; ids, where both sides have them, are the same. */
function checkResponseMatch(candidate: Candidate): Problem | undefined {
	const contents = readContents(candidate);
	for (const [index, { calls }] of contents.entries()) {
		const responses = contents[index + 1]?.responses ?? [];
		if (calls.length !== responses.length) continue;
		for (const field of ["name", "id"]) {
			const [asked, given] = [calls, responses].map((list) => list.map((item) => item[field]));
			const isOptional = field === "id" && (asked?.includes(undefined) || given?.includes(undefined));
			if (isOptional || asked?.map(String).sort().join() === given?.map(String).sort().join()) continue;
			const at = `contents[${index + 1}].parts[0].function_response.${field}`;
			return { message: `* GenerateContentRequest.${at}: does not match the function calls before it.` };
		}
	}
	return undefined;
}

/** Models from 3 on want the signature of the first call of each step back while the turn lasts. */
function checkMissingSignatures(candidate: Candidate): Problem | undefined {
	if (!/gemini-([3-9]|\d\d)/.test(readModel(candidate.path))) return undefined;
	const contents = readContents(candidate);
	const turn = contents.findLastIndex(({ role, responses }) => role === "user" && responses.length === 0);
	for (const [index, { parts }] of contents.entries()) {
		const first = parts.find((part) => isObject(part.functionCall));
		if (index < turn || !first || !isObject(first.functionCall) || first.thoughtSignature !== undefined) continue;
		const name = String(first.functionCall.name);
		const message = `Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call \`default_api:${name}\` , position ${index + 1}. Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures for more details.`;
		return { message };
	}
	return undefined;
}

function checkSignatures(candidate: Candidate): Problem | undefined {
	const model = readModel(candidate.path);
	for (const { parts } of readContents(candidate)) {
		for (const part of parts) {
			if (typeof part.thoughtSignature !== "string") continue;
			const call = isObject(part.functionCall) ? part.functionCall : undefined;
			if (!isIssued(model, part.thoughtSignature, call)) return { message: "Thought signature is not valid" };
		}
	}
	return undefined;
}

function checkImages(candidate: Candidate): Problem | undefined {
	for (const [index, { parts, responses }] of readContents(candidate).entries()) {
		const inside = responses.flatMap((response) => listObjects(response.parts));
		for (const [at, part] of [...parts, ...inside].entries()) {
			const data = isObject(part.inlineData) ? part.inlineData.data : undefined;
			if (typeof data !== "string" || isBase64(data)) continue;
			const place = `contents[${index}].parts[${at}].inline_data.data`;
			return {
				message: `Invalid value at '${place}' (TYPE_BYTES), Base64 decoding failed for ${JSON.stringify(data.slice(0, 40))}`,
			};
		}
	}
	return undefined;
}

function checkOverflow(candidate: Candidate): Problem | undefined {
	const { contextWindow } = candidate.options;
	const tokens = estimateTokens(readBody(candidate).contents);
	if (contextWindow === undefined || tokens <= contextWindow) return undefined;
	return {
		message: `The input token count (${tokens}) exceeds the maximum number of tokens allowed (${contextWindow}).`,
	};
}
