/** Checks JSON against the wire types that the official SDKs declare. */

/** Objects by field (`name?` when optional) and aliases, as `generated/*.json` holds them. */
export type TypeTable = Readonly<Record<string, Readonly<Record<string, string>> | string>>;

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

interface Marker {
	readonly field: string;
	readonly isOptional: boolean;
	readonly accepted: readonly string[];
}

/** All faults of a value against a type expression such as `Array<Message> | null`. */
export function findFaults(table: TypeTable, type: string, value: unknown, path = ""): ShapeFault[] {
	const alternatives = expandType(table, type);
	if (alternatives.some((alternative) => isPlainMatch(alternative, value))) return [];
	if (Array.isArray(value)) {
		const lists = alternatives.filter((alternative) => alternative.startsWith("Array<"));
		if (lists.length > 0) {
			const inner = lists.map(innerType).join(" | ");
			return value.flatMap((item, index) => findFaults(table, inner, item, `${path}[${index}]`));
		}
	} else if (isObject(value)) {
		const record = alternatives.find((alternative) => alternative.startsWith("Record<"));
		const objects = alternatives.filter((alternative) => typeof table[alternative] === "object");
		if (objects.length > 0) return findObjectFaults(table, objects, value, path, record !== undefined);
		if (record) {
			const inner = innerType(record);
			return Object.entries(value).flatMap(([name, item]) => findFaults(table, inner, item, join(path, name)));
		}
	}
	const literals = alternatives.filter((alternative) => alternative.startsWith("'"));
	if (typeof value === "string" && literals.length > 0) {
		return [{ kind: "wrong-value", path, expected: literals.join(", "), value }];
	}
	return [{ kind: "wrong-type", path, expected: describeType(table, alternatives), value }];
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
	const marked = names.map((name) => ({ name, markers: findMarkers(table, name) }));
	const fitting = marked.filter(({ markers }) => markers.every((marker) => hasMarker(value, marker)));
	if (fitting.length === 0) {
		const markers = marked.flatMap((each) => each.markers);
		return mayHoldMore ? [] : findMarkerFault(markers, value, path);
	}
	const faults = fitting.map(({ name }) => checkFields(table, name, value, path));
	return faults.reduce((fewest, list) => (list.length < fewest.length ? list : fewest));
}

/** The fault of the first field whose value fits none of the types. */
function findMarkerFault(markers: readonly Marker[], value: JsonObject, path: string): ShapeFault[] {
	const fields = [...new Set(markers.map(({ field }) => field))];
	const isWrong = (name: string) => !markers.some((marker) => marker.field === name && hasMarker(value, marker));
	const field = fields.find(isWrong) ?? fields[0] ?? "type";
	const accepted = new Set(markers.flatMap((marker) => (marker.field === field ? marker.accepted : [])));
	const expected = [...accepted].map((text) => `'${text}'`).join(", ");
	const given = value[field];
	const kind = given === undefined ? "missing-field" : typeof given === "string" ? "wrong-value" : "wrong-type";
	return [{ kind, path: join(path, field), expected, value: given }];
}

/** Fields that hold nothing but literals and so tell object types apart; an optional one may be absent. */
function findMarkers(table: TypeTable, name: string): Marker[] {
	const fields = table[name];
	if (typeof fields !== "object") return [];
	return Object.entries(fields).flatMap(([key, type]) => {
		const field = key.replace(/\?$/, "");
		if (!["type", "role", "mode"].includes(field)) return [];
		const accepted = expandType(table, type).filter((part) => part !== "null");
		if (!accepted.every((part) => part.startsWith("'"))) return [];
		return [{ field, isOptional: key !== field, accepted: accepted.map((part) => part.slice(1, -1)) }];
	});
}

function hasMarker(value: JsonObject, { field, isOptional, accepted }: Marker): boolean {
	const given = value[field] ?? undefined;
	return given === undefined ? isOptional : typeof given === "string" && accepted.includes(given);
}

function checkFields(table: TypeTable, name: string, value: JsonObject, path: string): ShapeFault[] {
	const fields = table[name];
	if (typeof fields !== "object") return [];
	const faults: ShapeFault[] = [];
	const open = fields["[]"];
	for (const [key, item] of Object.entries(value)) {
		const type = fields[key] ?? fields[`${key}?`] ?? open;
		if (item === undefined) continue;
		if (type === undefined) faults.push({ kind: "unknown-field", path: join(path, key), expected: name, value: item });
		else faults.push(...findFaults(table, type, item, join(path, key)));
	}
	for (const field of Object.keys(fields)) {
		if (field.endsWith("?") || field === "[]" || value[field] !== undefined) continue;
		faults.push({ kind: "missing-field", path: join(path, field), expected: fields[field] ?? "", value: undefined });
	}
	return faults;
}

/** Long conversations ask for the same few types again and again. */
const expanded = new WeakMap<TypeTable, Map<string, readonly string[]>>();

/** The alternatives of a type with all aliases written out. */
function expandType(table: TypeTable, type: string): readonly string[] {
	const known = expanded.get(table) ?? new Map<string, readonly string[]>();
	expanded.set(table, known);
	const found = known.get(type);
	if (found) return found;
	const alternatives = splitUnion(type).flatMap((part) => {
		const named = table[part];
		return typeof named === "string" ? expandType(table, named) : [part];
	});
	known.set(type, alternatives);
	return alternatives;
}

function splitUnion(type: string): string[] {
	const parts: string[] = [];
	let depth = 0;
	let part = "";
	for (const char of type) {
		if (char === "<") depth += 1;
		if (char === ">") depth -= 1;
		if (char === "|" && depth === 0) {
			parts.push(part.trim());
			part = "";
		} else part += char;
	}
	return [...parts, part.trim()];
}

function innerType(wrapped: string): string {
	return wrapped.slice(wrapped.indexOf("<") + 1, -1);
}

function isPlainMatch(type: string, value: unknown): boolean {
	if (type === "unknown") return true;
	if (type === "null") return value === null;
	if (type === "true" || type === "false") return value === (type === "true");
	if (type.startsWith("'")) return value === type.slice(1, -1);
	if (/^\d/.test(type)) return value === Number(type);
	return (type === "string" || type === "number" || type === "boolean") && typeof value === type;
}

function describeType(table: TypeTable, alternatives: readonly string[]): string {
	const words = alternatives.map((alternative) => {
		if (alternative.startsWith("Array<")) {
			return expandType(table, innerType(alternative)).some((part) => typeof table[part] === "object")
				? "array of objects"
				: "array";
		}
		return alternative.startsWith("Record<") || typeof table[alternative] === "object" ? "object" : alternative;
	});
	const unique = [...new Set(words)].map((word) => word.replaceAll("'", ""));
	const article = /^[aeiou]/.test(unique[0] ?? "") ? "an" : "a";
	return unique.length === 1 ? `${article} ${unique[0]}` : `one of ${article} ${unique.join(" or ")}`;
}

function join(path: string, name: string): string {
	return path === "" ? name : `${path}.${name}`;
}
