/** How the Gemini API words its refusals. */

import type { Problem } from "../rule.ts";
import type { ShapeFault } from "../shape.ts";

const STATUSES: Readonly<Record<number, string>> = {
	400: "INVALID_ARGUMENT",
	401: "UNAUTHENTICATED",
	403: "PERMISSION_DENIED",
	404: "NOT_FOUND",
	429: "RESOURCE_EXHAUSTED",
	500: "INTERNAL",
	501: "UNIMPLEMENTED",
	503: "UNAVAILABLE",
};

/** The wording for a request that has not the declared shape. */
export function describeShape({ kind, path, expected, value }: ShapeFault): Problem {
	const at = path.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
	if (kind === "missing-field") return { message: `* GenerateContentRequest.${at}: ${path} is not specified` };
	if (kind === "unknown-field") {
		const name = path.split(".").at(-1) ?? path;
		const parent = at.split(".").slice(0, -1).join(".");
		return {
			message: `Invalid JSON payload received. Unknown name "${name}"${parent ? ` at '${parent}'` : ""}: Cannot find field.`,
		};
	}
	const type = kind === "wrong-value" ? expected : expected.replace(/^one of an? |^an? /, "").toUpperCase();
	const label = kind === "wrong-value" ? type : `TYPE_${type}`;
	return { message: `Invalid value at '${at}' (${label}), ${JSON.stringify(value)}` };
}

/** The body of a refusal. */
export function errorBody(status: number, problem: Problem): object {
	return { error: { code: status, message: problem.message, status: STATUSES[status] ?? "UNKNOWN" } };
}

/** The answer to a request for the list of models. */
export function listModels(models: readonly string[]): object {
	return {
		models: models.map((id) => ({
			name: `models/${id}`,
			displayName: id,
			supportedGenerationMethods: ["generateContent", "streamGenerateContent"],
		})),
	};
}
