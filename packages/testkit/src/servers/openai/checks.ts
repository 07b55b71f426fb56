/** Checks that chat completions and Responses share. */

import { findDuplicate, findParametersFault, hasLoneSurrogate, listObjects, readDataUrl } from "../json.ts";
import type { Candidate, Problem, Rule } from "../rule.ts";
import { isObject } from "../shape.ts";
import { describeKey, describeModel, describeRange, describeToolName } from "./words.ts";

const IMAGE_TYPES = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

/** One declared function and where it stands, such as `tools[0].function`. */
export interface DeclaredTool {
	readonly at: string;
	readonly name: unknown;
	readonly parameters: unknown;
}

/** The fields of a request, none when it is not an object. */
export function readBody(candidate: Candidate): Record<string, unknown> {
	return isObject(candidate.body) ? candidate.body : {};
}

/** Refuses a missing or wrong bearer key with 401. */
export function checkKey({ headers, options }: Candidate): Problem | undefined {
	const given = headers.authorization?.replace(/^Bearer /, "");
	return options.apiKey === undefined || given === options.apiKey ? undefined : describeKey(given);
}

/** Refuses half surrogate pairs. */
export function checkSurrogates({ body }: Candidate): Problem | undefined {
	if (!hasLoneSurrogate(body)) return undefined;
	return { message: "We could not parse the JSON body of your request: it holds an unpaired surrogate." };
}

/** Refuses models that are not in the catalogue with 404. */
export function checkModel(candidate: Candidate): Problem | undefined {
	const { model } = readBody(candidate);
	const { models } = candidate.options;
	return models && typeof model === "string" && !models.includes(model) ? describeModel(model) : undefined;
}

/** Refuses numbers out of their range, each range as least and greatest value. */
export function checkRanges(
	candidate: Candidate,
	ranges: Readonly<Record<string, readonly [number, number?]>>,
): Problem | undefined {
	const body = readBody(candidate);
	for (const [name, [least, most = Number.POSITIVE_INFINITY]] of Object.entries(ranges)) {
		const value = body[name];
		if (typeof value === "number" && (value < least || value > most)) return describeRange(name, value, least, most);
	}
	return undefined;
}

/** Rules about declared functions: names, doubles, schemas. */
export function toolRules(readTools: (candidate: Candidate) => readonly DeclaredTool[]): Rule[] {
	return [
		{
			name: "tool-name",
			check: (candidate) => {
				for (const { at, name } of readTools(candidate)) {
					if (typeof name !== "string" || /^[a-zA-Z0-9_-]{1,64}$/.test(name)) continue;
					return describeToolName(`${at}.name`, name);
				}
				return undefined;
			},
		},
		{
			name: "duplicate-tool",
			check: (candidate) => {
				const names = readTools(candidate).flatMap(({ name }) => (typeof name === "string" ? [name] : []));
				const name = findDuplicate(names);
				if (name === undefined) return undefined;
				return { message: `Duplicate function name in 'tools': '${name}'.`, param: "tools" };
			},
		},
		{
			name: "tool-schema",
			check: (candidate) => {
				for (const { at, name, parameters } of readTools(candidate)) {
					const fault = isObject(parameters) ? findParametersFault(parameters) : undefined;
					if (!fault) continue;
					const message = `Invalid schema for function '${String(name)}': ${fault}`;
					return { message, param: `${at}.parameters`, code: "invalid_function_parameters" };
				}
				return undefined;
			},
		},
		{ name: "tools-required", check: checkToolsRequired },
	];
}

function checkToolsRequired(candidate: Candidate): Problem | undefined {
	const body = readBody(candidate);
	if (body.tools !== undefined || body.functions !== undefined) return undefined;
	const name = ["tool_choice", "parallel_tool_calls"].find((field) => body[field] !== undefined);
	if (name === undefined) return undefined;
	return { message: `'${name}' is only allowed when 'tools' are specified.`, param: name };
}

/** Refuses image addresses that are neither web addresses nor valid data URLs of an accepted type. */
export function checkImageUrls(urls: readonly unknown[]): Problem | undefined {
	for (const url of urls) {
		if (typeof url !== "string" || /^https?:\/\//.test(url)) continue;
		const image = readDataUrl(url);
		if (!image) return { message: "Invalid base64 image_url.", code: "invalid_base64" };
		if (IMAGE_TYPES.has(image.mimeType)) continue;
		const message =
			"You uploaded an unsupported image. Please make sure your image has of one the following formats: ['png', 'jpeg', 'gif', 'webp'].";
		return { message, code: "invalid_image_format" };
	}
	return undefined;
}

/** The parts of all messages of a conversation, wherever they are lists. */
export function listParts(messages: unknown, field: string): Record<string, unknown>[] {
	return listObjects(messages).flatMap((message) => listObjects(message[field]));
}
