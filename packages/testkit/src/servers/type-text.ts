/** Reads type expressions such as `Array<Message> | 'none' | null` once, for all values that are checked against them. */

/** Objects by field (`name?` when optional) and aliases, as `generated/*.json` holds them. */
export type TypeTable = Readonly<Record<string, Readonly<Record<string, string>> | string>>;

/** A type expression taken apart, with all aliases written out. */
export interface TypeParts {
	readonly isAnything: boolean;
	/** `string`, `number`, `boolean`, `null`. */
	readonly primitives: ReadonlySet<string>;
	/** Accepted texts, numbers and booleans. */
	readonly literals: ReadonlySet<unknown>;
	/** The type of the items, when a list is accepted. */
	readonly items?: string;
	/** The type of the values, when an object with any names is accepted. */
	readonly values?: string;
	/** Accepted object types by name. */
	readonly objects: readonly string[];
}

const known = new WeakMap<TypeTable, Map<string, TypeParts>>();

/** The parts of a type expression. */
export function readType(table: TypeTable, type: string): TypeParts {
	const cache = known.get(table) ?? new Map<string, TypeParts>();
	known.set(table, cache);
	const found = cache.get(type);
	if (found) return found;
	const parts = takeApart(table, expandType(table, type));
	cache.set(type, parts);
	return parts;
}

/** A type in the words of error messages, such as `one of a string or array of objects`. */
export function describeType(table: TypeTable, parts: TypeParts): string {
	const words = [...parts.primitives, ...[...parts.literals].map(String)];
	if (parts.items !== undefined) {
		words.push(readType(table, parts.items).objects.length > 0 ? "array of objects" : "array");
	}
	if (parts.values !== undefined || parts.objects.length > 0) words.push("object");
	const article = /^[aeiou]/.test(words[0] ?? "") ? "an" : "a";
	return words.length === 1 ? `${article} ${words[0]}` : `one of ${article} ${words.join(" or ")}`;
}

function takeApart(table: TypeTable, alternatives: readonly string[]): TypeParts {
	const primitives = new Set<string>();
	const literals = new Set<unknown>();
	const items: string[] = [];
	const values: string[] = [];
	const objects: string[] = [];
	for (const part of alternatives) {
		if (part.startsWith("'")) literals.add(part.slice(1, -1));
		else if (part === "true" || part === "false") literals.add(part === "true");
		else if (/^\d/.test(part)) literals.add(Number(part));
		else if (part.startsWith("Array<")) items.push(part.slice(6, -1));
		else if (part.startsWith("Record<")) values.push(part.slice(7, -1));
		else if (typeof table[part] === "object") objects.push(part);
		else primitives.add(part);
	}
	return {
		isAnything: primitives.has("unknown"),
		primitives,
		literals,
		objects,
		...(items.length > 0 ? { items: items.join(" | ") } : {}),
		...(values.length > 0 ? { values: values.join(" | ") } : {}),
	};
}

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
