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
	const fitting = marked.filter(({ markers }) => markers.every(([field, type]) => fits(table, type, value[field])));
	if (fitting.length === 0) {
		if (mayHoldMore) return [];
		return findMarkerFault(table, marked, value, path);
	}
	const faults = fitting.map(({ name }) => checkFields(table, name, value, path));
	return faults.reduce((fewest, list) => (list.length < fewest.length ? list : fewest));
}

function findMarkerFault(
	table: TypeTable,
	marked: readonly { readonly markers: readonly (readonly [string, string])[] }[],
	value: JsonObject,
	path: string,
): ShapeFault[] {
	const all = marked.flatMap(({ markers }) => markers);
	const field = all.find(([name, type]) => !fits(table, type, value[name]))?.[0] ?? "type";
	const expected = [...new Set(all.filter(([name]) => name === field).flatMap(([, type]) => expandType(table, type)))];
	const at = join(path, field);
	if (value[field] === undefined)
		return [{ kind: "missing-field", path: at, expected: expected.join(", "), value: undefined }];
	const kind = typeof value[field] === "string" ? "wrong-value" : "wrong-type";
	return [{ kind, path: at, expected: expected.join(", "), value: value[field] }];
}

/** Required fields that hold nothing but literals: they tell object types apart. */
function findMarkers(table: TypeTable, name: string): (readonly [string, string])[] {
	const fields = table[name];
	if (typeof fields !== "object") return [];
	return Object.entries(fields).filter(
		([field, type]) =>
			/^(type|role|mode)$/.test(field) && expandType(table, type).every((part) => part.startsWith("'")),
	);
}

function fits(table: TypeTable, type: string, value: unknown): boolean {
	return expandType(table, type).some((alternative) => isPlainMatch(alternative, value));
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

/** The alternatives of a type with all aliases written out. */
function expandType(table: TypeTable, type: string): string[] {
	return splitUnion(type).flatMap((part) => {
		const named = table[part];
		return typeof named === "string" ? expandType(table, named) : [part];
	});
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
