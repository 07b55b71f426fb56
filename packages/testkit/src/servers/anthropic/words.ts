/** How the Anthropic API words its refusals. */

import type { Problem } from "../rule.ts";
import type { ShapeFault } from "../shape.ts";

const TYPES: Readonly<Record<number, string>> = {
	401: "authentication_error",
	403: "permission_error",
	404: "not_found_error",
	413: "request_too_large",
	429: "rate_limit_error",
	529: "overloaded_error",
};

/** The wording for a request that has not the declared shape. */
export function describeShape({ kind, path, expected }: ShapeFault): Problem {
	const at = path.replaceAll("[", ".").replaceAll("]", "");
	if (kind === "missing-field") return { message: `${at}: Field required` };
	if (kind === "unknown-field") return { message: `${at}: Extra inputs are not permitted` };
	if (kind === "wrong-value") return { message: `${at}: Input should be ${expected.replace(/, (?=[^,]*$)/, " or ")}` };
	const valid = expected.replace(/^one of an? |^an? /, "").replaceAll("array of objects", "list");
	return { message: `${at}: Input should be a valid ${valid}` };
}

/** The body of a refusal. */
export function errorBody(status: number, problem: Problem): object {
	const type = TYPES[status] ?? (status >= 500 ? "api_error" : "invalid_request_error");
	return { type: "error", error: { type, message: problem.message }, request_id: "req_mock" };
}

/** The answer to a request for the list of models. */
export function listModels(models: readonly string[]): object {
	const data = models.map((id) => ({ type: "model", id, display_name: id, created_at: "2025-01-01T00:00:00Z" }));
	return { data, has_more: false, first_id: models[0] ?? null, last_id: models.at(-1) ?? null };
}
