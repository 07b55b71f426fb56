/** Checks JSON against the wire types that the official SDKs declare. */

import { describeType, readType, type TypeTable } from "./type-text.ts";

/** One place where a value has not the declared shape. */
export interface ShapeFault {
	readonly kind: "unknown-field" | "missing-field" | "wrong-type" | "wrong-value";
	/** Such as `messages[1].content`. */
	readonly path: string;
	/** What would be right: a type in words, or the accepted values. */
	readonly expected: string;
	readonly value: unknown;
}

type JsonObject = Record<string, unknown>;

/** A field that tells object types apart. */
interface Marker {
	readonly field: string;
	readonly isOptional: boolean;
	readonly accepted: readonly string[];
}

/** All faults of a value against a type expression such as `Array<Message> | null`. */
export function findFaults(table: TypeTable, type: string, value: unknown, path = ""): ShapeFault[] {
	const parts = readType(table, type);
	const { items, values, objects, literals } = parts;
	if (parts.isAnything || literals.has(value) || parts.primitives.has(value === null ? "null" : typeof value))
		return [];
	if (Array.isArray(value) && items !== undefined) {
		return value.flatMap((item, index) => findFaults(table, items, item, `${path}[${index}]`));
	}
	if (isObject(value) && objects.length > 0) {
		return findObjectFaults(table, objects, value, path, values !== undefined);
	}
	if (isObject(value) && values !== undefined) {
		return Object.entries(value).flatMap(([name, item]) => findFaults(table, values, item, join(path, name)));
	}
	if (typeof value === "string" && literals.size > 0) {
		return [{ kind: "wrong-value", path, expected: listTexts(literals), value }];
	}
	return [{ kind: "wrong-type", path, expected: describeType(table, parts), value }];
}

/** True for JSON objects, not for lists and null. */
export function isObject(value: unknown): value is JsonObject {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The kind of a JSON value in the words of error messages. */
export function describeValue(value: unknown): string {
	if (value === null) return "null";
	if (Array.isArray(value)) return "an array";
	if (typeof value === "number") return Number.isInteger(value) ? "an integer" : "a decimal";
	if (typeof value === "object") return "an object";
	return `a ${typeof value}`;
}

/**
 * Of several object types the one is meant whose literal fields (`role`, `type`) the value has; where none has them
 * all, the value of the first such field is wrong, and where several do, the one with the fewest faults counts.
 */
function findObjectFaults(
	table: TypeTable,
	names: readonly string[],
	value: JsonObject,
	path: string,
	mayHoldMore: boolean,
): ShapeFault[] {
	const fitting = names.filter((name) => findMarkers(table, name).every((marker) => hasMarker(value, marker)));
	if (fitting.length === 0) {
		const markers = names.flatMap((name) => findMarkers(table, name));
		return mayHoldMore ? [] : findMarkerFault(markers, value, path);
	}
	const faults = fitting.map((name) => checkFields(table, name, value, path));
	return faults.reduce((fewest, list) => (list.length < fewest.length ? list : fewest));
}

/** The fault of the first field whose value fits none of the types. */
function findMarkerFault(markers: readonly Marker[], value: JsonObject, path: string): ShapeFault[] {
	const fields = [...new Set(markers.map(({ field }) => field))];
	const isWrong = (name: string) => !markers.some((marker) => marker.field === name && hasMarker(value, marker));
	const field = fields.find(isWrong) ?? fields[0] ?? "type";
	const accepted = new Set(markers.flatMap((marker) => (marker.field === field ? marker.accepted : [])));
	const given = value[field];
	const kind = given === undefined ? "missing-field" : typeof given === "string" ? "wrong-value" : "wrong-type";
	return [{ kind, path: join(path, field), expected: listTexts(accepted), value: given }];
}

const knownMarkers = new WeakMap<object, readonly Marker[]>();

/** Fields that hold nothing but literals and so tell object types apart; an optional one may be absent. */
function findMarkers(table: TypeTable, name: string): readonly Marker[] {
	const fields = table[name];
	if (typeof fields !== "object") return [];
	const known = knownMarkers.get(fields);
	if (known) return known;
	const markers = Object.entries(fields).flatMap(([key, type]) => {
		const field = key.replace(/\?$/, "");
		const { literals, primitives, objects } = readType(table, type);
		const isPlain = objects.length === 0 && [...primitives].every((part) => part === "null");
		if (!["type", "role", "mode"].includes(field) || !isPlain) return [];
		return [{ field, isOptional: key !== field, accepted: [...literals].map(String) }];
	});
	knownMarkers.set(fields, markers);
	return markers;
}

function hasMarker(value: JsonObject, { field, isOptional, accepted }: Marker): boolean {
	const given = value[field] ?? undefined;
	return given === undefined ? isOptional : typeof given === "string" && accepted.includes(given);
}

function checkFields(table: TypeTable, name: string, value: JsonObject, path: string): ShapeFault[] {
	const fields = table[name];
	if (typeof fields !== "object") return [];
	const faults: ShapeFault[] = [];
	for (const [key, item] of Object.entries(value)) {
		if (item === undefined) continue;
		const type = fields[key] ?? fields[`${key}?`] ?? fields["[]"];
		if (type === undefined) faults.push({ kind: "unknown-field", path: join(path, key), expected: name, value: item });
		else faults.push(...findFaults(table, type, item, join(path, key)));
	}
	for (const field of Object.keys(fields)) {
		if (field.endsWith("?") || field === "[]" || value[field] !== undefined) continue;
		faults.push({ kind: "missing-field", path: join(path, field), expected: fields[field] ?? "", value: undefined });
	}
	return faults;
}

function listTexts(texts: Iterable<unknown>): string {
	return [...texts].map((text) => `'${String(text)}'`).join(", ");
}

function join(path: string, name: string): string {
	return path === "" ? name : `${path}.${name}`;
}
