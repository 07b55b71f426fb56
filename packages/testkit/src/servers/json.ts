/** Checks that several formats share: text, images, tool names and the JSON schemas of tools. */

import { isObject } from "./shape.ts";

const SCHEMA_TYPES = new Set(["string", "number", "integer", "boolean", "object", "array", "null"]);

/** True when a text in a JSON value has half of a surrogate pair, which is no valid Unicode. */
export function hasLoneSurrogate(value: unknown): boolean {
	if (typeof value === "string") return !value.isWellFormed();
	if (typeof value !== "object" || value === null) return false;
	if (Array.isArray(value)) return value.some(hasLoneSurrogate);
	return Object.entries(value).some(([key, item]) => !key.isWellFormed() || hasLoneSurrogate(item));
}

/** What is wrong with a JSON schema, in the words that servers use, or `undefined`. */
function findSchemaFault(schema: unknown): string | undefined {
	if (typeof schema === "boolean") return undefined;
	if (!isObject(schema)) return `${JSON.stringify(schema)} is not of type 'object', 'boolean'.`;
	const { type, properties, required, items, additionalProperties } = schema;
	const types = Array.isArray(type) ? type : type === undefined ? [] : [type];
	const wrong = types.find((name) => typeof name !== "string" || !SCHEMA_TYPES.has(name));
	if (wrong !== undefined) return `${JSON.stringify(wrong)} is not valid under any of the given schemas.`;
	if (required !== undefined && !isTextList(required)) return `${JSON.stringify(required)} is not of type 'array'.`;
	if (schema.enum !== undefined && !Array.isArray(schema.enum)) return "'enum' is not of type 'array'.";
	if (properties !== undefined && !isObject(properties))
		return `${JSON.stringify(properties)} is not of type 'object'.`;
	if (types[0] === "array" && items === undefined) return "array schema missing items.";
	const inner: unknown[] = Object.values(properties ?? {});
	if (items !== undefined) inner.push(...(Array.isArray(items) ? items : [items]));
	if (additionalProperties !== undefined) inner.push(additionalProperties);
	for (const word of ["anyOf", "oneOf", "allOf"]) {
		const list = schema[word];
		if (list === undefined) continue;
		if (!Array.isArray(list) || list.length === 0) return `'${word}' is not a non-empty array.`;
		inner.push(...list);
	}
	for (const schemaInside of inner) {
		const fault = findSchemaFault(schemaInside);
		if (fault) return fault;
	}
	return undefined;
}

/** What is wrong with the schema of a tool's parameters, which must describe an object. */
export function findParametersFault(schema: unknown): string | undefined {
	if (isObject(schema) && schema.type !== "object") {
		return `schema must be a JSON Schema of 'type: "object"', got 'type: ${JSON.stringify(schema.type ?? null)}'.`;
	}
	return findSchemaFault(schema);
}

/** Reads `data:<type>;base64,<data>`; `undefined` when it is not of that form or the data is not base64. */
export function readDataUrl(url: string): { readonly mimeType: string; readonly data: string } | undefined {
	const match = /^data:([\w.+-]+\/[\w.+-]+);base64,(.*)$/s.exec(url);
	return match?.[1] !== undefined && isBase64(match[2] ?? "")
		? { mimeType: match[1], data: match[2] ?? "" }
		: undefined;
}

/** True for non-empty base64 with its padding. */
export function isBase64(data: string): boolean {
	return data.length > 0 && data.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(data);
}

/** The JSON object that a text holds, or `undefined`. */
export function parseObject(text: string): Record<string, unknown> | undefined {
	try {
		const value: unknown = JSON.parse(text);
		return isObject(value) ? value : undefined;
	} catch {
		// Text that is no JSON holds no object: that is the answer, not a failure.
		return undefined;
	}
}

/** The first value that stands in the list for a second time. */
export function findDuplicate<T>(values: readonly T[]): T | undefined {
	return values.find((value, index) => values.indexOf(value) !== index);
}

/** Tokens of a JSON value by the rule of thumb of four bytes each. */
export function estimateTokens(...values: readonly unknown[]): number {
	const bytes = values.map((value) => (value === undefined ? 0 : Buffer.byteLength(JSON.stringify(value))));
	return Math.ceil(bytes.reduce((sum, size) => sum + size, 0) / 4);
}

/** The objects of a JSON list; whatever else is in it or in its place is left out. */
export function listObjects(value: unknown): Record<string, unknown>[] {
	return Array.isArray(value) ? value.filter(isObject) : [];
}

function isTextList(value: unknown): boolean {
	return Array.isArray(value) && value.every((item) => typeof item === "string");
}
