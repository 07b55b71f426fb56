import type { Declaration, TypeText } from "./read.ts";

/** The wire types that can be reached from some roots: objects by field (`name?` when optional), aliases as text. */
export type TypeTable = Record<string, Record<string, string> | string>;

const PRIMITIVES = new Set(["string", "number", "boolean", "null", "unknown", "true", "false"]);

/** Collects the types that `roots` reach. Names that cannot be resolved become `unknown`. */
export function collectTypes(declarations: ReadonlyMap<string, Declaration>, roots: readonly string[]): TypeTable {
	const table: TypeTable = {};
	const waiting = [...roots];
	const resolve = (name: string, scope: string) => resolveName(declarations, name, scope);

	/** Fields of a declaration with those of its parents. */
	function listFields(name: string): { fields: Readonly<Record<string, TypeText>>; scope: string }[] {
		const declaration = declarations.get(name);
		if (declaration?.kind !== "object") return [];
		const parents = declaration.parents.map((parent) => resolve(parent, declaration.scope));
		return [
			...parents.flatMap((parent) => (parent ? listFields(parent) : [])),
			{ fields: declaration.fields, scope: declaration.scope },
		];
	}

	/** Names an object type written in place after the field that holds it. */
	function writeType(type: TypeText, scope: string, path: string): string {
		const alternatives = type.map((part) => {
			if (typeof part === "string") {
				if (PRIMITIVES.has(part) || part.startsWith("'") || /^\d/.test(part)) return part;
				const resolved = resolve(part, scope);
				if (isSaidByString(resolved, type)) return "string";
				if (resolved) waiting.push(resolved);
				return resolved ?? "unknown";
			}
			if ("wrap" in part) return `${part.wrap}<${writeType(part.of, scope, path)}>`;
			let name = `${path}{}`;
			while (table[name] !== undefined) name += "{}";
			table[name] = {};
			table[name] = writeFields([{ fields: part.fields, scope }], path);
			return name;
		});
		const said = alternatives.includes("string") ? alternatives.filter((part) => !part.startsWith("'")) : alternatives;
		return [...new Set(said)].join(" | ");
	}

	/** A list of known texts beside `string`, as for model names, says nothing. */
	function isSaidByString(name: string | undefined, type: TypeText): boolean {
		const declaration = name === undefined ? undefined : declarations.get(name);
		if (declaration?.kind !== "alias" || !type.includes("string")) return false;
		return declaration.type.every((part) => typeof part === "string" && part.startsWith("'"));
	}

	function writeFields(levels: ReturnType<typeof listFields>, path: string): Record<string, string> {
		const written: Record<string, string> = {};
		for (const { fields, scope } of levels) {
			for (const [field, type] of Object.entries(fields)) {
				const plain = field.replace(/\?$/, "");
				delete written[plain];
				delete written[`${plain}?`];
				written[field] = writeType(type, scope, `${path}.${plain}`);
			}
		}
		return written;
	}

	for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
		if (table[name]) continue;
		const declaration = declarations.get(name);
		if (!declaration) throw new Error(`The declarations have no ${name}.`);
		if (declaration.kind === "alias") table[name] = writeType(declaration.type, declaration.scope, name);
		else {
			// Taken before its fields are written, so that a type that holds itself ends.
			table[name] = {};
			table[name] = writeFields(listFields(name), name);
		}
	}
	return Object.fromEntries(Object.entries(table).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The full name of what `name` means inside `scope`; a module alias in front of it is dropped. */
function resolveName(declarations: ReadonlyMap<string, Declaration>, name: string, scope: string): string | undefined {
	const levels = scope === "" ? [] : scope.split(".");
	for (let depth = levels.length; depth >= 0; depth -= 1) {
		const full = [...levels.slice(0, depth), name].join(".");
		if (declarations.has(full)) return full;
	}
	const withoutAlias = name.replace(/^[A-Za-z]+\./, "");
	return declarations.has(withoutAlias) ? withoutAlias : undefined;
}
