/** How OpenAI and compatible servers word their refusals. */

import type { Problem } from "../rule.ts";
import { describeValue, type ShapeFault } from "../shape.ts";

/** The wording for a request that has not the declared shape. */
export function describeShape(fault: ShapeFault): Problem {
	const { kind, path, expected, value } = fault;
	if (kind === "missing-field") {
		return path === "model"
			? { message: "you must provide a model parameter" }
			: { message: `Missing required parameter: '${path}'.`, param: path, code: "missing_required_parameter" };
	}
	if (kind === "unknown-field") {
		return { message: `Unknown parameter: '${path}'.`, param: path, code: "unknown_parameter" };
	}
	if (kind === "wrong-type") {
		const message = `Invalid type for '${path}': expected ${expected}, but got ${describeValue(value)} instead.`;
		return { message, param: path, code: "invalid_type" };
	}
	const message = `Invalid value: '${String(value)}'. Supported values are: ${expected}.`;
	return { message, param: path, code: "invalid_value" };
}

/** The refusal of a missing or wrong key. */
export function describeKey(given: string | undefined): Problem {
	if (!given) {
		const message =
			"You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer auth (i.e. Authorization: Bearer YOUR_KEY).";
		return { status: 401, message };
	}
	const shown = given.length > 8 ? `${given.slice(0, 4)}****${given.slice(-4)}` : "****";
	const message = `Incorrect API key provided: ${shown}. You can find your API key at https://platform.openai.com/account/api-keys.`;
	return { status: 401, message, code: "invalid_api_key" };
}

/** The refusal of a name that stands in no catalogue. */
export function describeModel(model: string): Problem {
	const message = `The model \`${model}\` does not exist or you do not have access to it.`;
	return { status: 404, message, code: "model_not_found" };
}

/** The refusal of more tokens than fit. */
export function describeOverflow(limit: number, tokens: number): Problem {
	const message = `This model's maximum context length is ${limit} tokens. However, your messages resulted in ${tokens} tokens. Please reduce the length of the messages.`;
	return { message, param: "messages", code: "context_length_exceeded" };
}

/** The refusal of a list that must hold something. */
export function describeEmptyList(path: string): Problem {
	const message = `Invalid '${path}': empty array. Expected an array with minimum length 1, but got an empty array instead.`;
	return { message, param: path, code: "empty_array" };
}

/** The refusal of a tool name that has a wrong character or is too long. */
export function describeToolName(path: string, name: string): Problem {
	if (name.length > 64) {
		const message = `Invalid '${path}': string too long. Expected a string with maximum length 64, but got a string with length ${name.length} instead.`;
		return { message, param: path, code: "string_above_max_length" };
	}
	const message = `Invalid '${path}': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`;
	return { message, param: path, code: "invalid_value" };
}

/** The refusal of a number out of its range. */
export function describeRange(name: string, value: number, least: number, most: number): Problem {
	const [side, sign, limit] = value < least ? ["below_min", ">=", least] : ["above_max", "<=", most];
	const words = side === "below_min" ? "below minimum" : "above maximum";
	const message = `Invalid '${name}': number ${words} value. Expected a value ${sign} ${limit}, but got ${value} instead.`;
	return { message, param: name, code: `number_${side}_value` };
}

/** The body of a refusal. */
export function errorBody(status: number, problem: Problem): object {
	const type = status >= 500 ? "server_error" : "invalid_request_error";
	return { error: { message: problem.message, type, param: problem.param ?? null, code: problem.code ?? null } };
}

/** The answer to a request for the list of models. */
export function listModels(models: readonly string[]): object {
	const data = models.map((id) => ({ id, object: "model", created: 1_700_000_000, owned_by: "mock" }));
	return { object: "list", data };
}
