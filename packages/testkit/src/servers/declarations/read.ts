/**
 * A small tolerant reader of declaration files: it knows interfaces, classes, enums, type aliases and namespaces, and
 * answers `unknown` for every type that cannot be said in JSON.
 */

import { readTokens, TokenReader } from "./tokens.ts";

/** One declared type. Names inside it are as written, to be resolved from the namespace `scope`. */
export type Declaration =
	| {
			readonly kind: "object";
			readonly scope: string;
			readonly parents: readonly string[];
			readonly fields: Readonly<Record<string, TypeText>>;
	  }
	| { readonly kind: "alias"; readonly scope: string; readonly type: TypeText };

/** A type as its alternatives: primitives, `'literals'`, names, `Array<…>`, `Record<…>`, or an object type in place. */
export type TypeText = readonly (string | { readonly wrap: "Array" | "Record"; readonly of: TypeText } | Inline)[];

/** An object type written in place. */
export interface Inline {
	readonly fields: Readonly<Record<string, TypeText>>;
}

/** Every declaration of a file under its full name, namespaces joined by dots. */
export function readDeclarations(text: string): Map<string, Declaration> {
	const found = new Map<string, Declaration>();
	readStatements(new TokenReader(readTokens(text)), "", found);
	return found;
}

function readStatements(tokens: TokenReader, scope: string, found: Map<string, Declaration>): void {
	while (!tokens.isAtEnd() && tokens.peek() !== "}") {
		while (["export", "declare", "default", "abstract", "const"].includes(tokens.peek())) tokens.next();
		const keyword = tokens.peek();
		const name = (scope ? `${scope}.` : "") + tokens.peek(1);
		if (keyword === "interface" || keyword === "class") {
			tokens.next();
			tokens.next();
			readObject(tokens, name, scope, found);
		} else if (keyword === "enum") {
			tokens.next();
			tokens.next();
			found.set(name, { kind: "alias", scope, type: readEnum(tokens) });
		} else if (keyword === "type" && tokens.peek(2) === "=") {
			tokens.next();
			tokens.next();
			tokens.next();
			found.set(name, { kind: "alias", scope: name, type: readType(tokens) });
			tokens.skipPast(";");
		} else if (keyword === "namespace" && tokens.peek(2) === "{") {
			tokens.next();
			tokens.next();
			tokens.next();
			readStatements(tokens, name, found);
			tokens.next();
		} else {
			tokens.skipPast(";", "}");
		}
	}
}

function readObject(tokens: TokenReader, name: string, scope: string, found: Map<string, Declaration>): void {
	const parents: string[] = [];
	skipGenerics(tokens);
	while (tokens.peek() !== "{" && !tokens.isAtEnd()) {
		const word = tokens.next();
		if (word === "extends" || word === "," || word === "implements") continue;
		let parent = word;
		while (tokens.take(".")) parent += `.${tokens.next()}`;
		skipGenerics(tokens);
		parents.push(parent);
	}
	// A name may be declared twice; the first one is kept, as later ones only repeat it.
	const fields = readFields(tokens);
	if (!found.has(name)) found.set(name, { kind: "object", scope: name || scope, parents, fields });
}

function readFields(tokens: TokenReader): Record<string, TypeText> {
	const fields: Record<string, TypeText> = {};
	tokens.take("{");
	while (!tokens.isAtEnd() && !tokens.take("}")) {
		if (tokens.take(";") || tokens.take(",")) continue;
		const isStatic = tokens.peek() === "static" || tokens.peek() === "private";
		if (tokens.peek() === "readonly" && tokens.peek(1) !== ":" && tokens.peek(1) !== "?") tokens.next();
		if (tokens.peek() === "[") {
			tokens.next();
			tokens.skipPast();
			tokens.next();
			tokens.take("?");
			if (tokens.take(":")) fields["[]"] = readType(tokens);
			tokens.skipPast(";", ",");
			continue;
		}
		const name = tokens.next().replace(/^['"]|['"]$/g, "");
		const isOptional = tokens.take("?");
		if (!isStatic && tokens.take(":")) fields[name + (isOptional ? "?" : "")] = readType(tokens);
		tokens.skipPast(";", ",");
	}
	return fields;
}

function readEnum(tokens: TokenReader): TypeText {
	const values: string[] = [];
	tokens.take("{");
	while (!tokens.isAtEnd() && !tokens.take("}")) {
		const name = tokens.next();
		const value = tokens.take("=") ? tokens.next() : name;
		values.push(`'${value.replace(/^['"]|['"]$/g, "")}'`);
		tokens.take(",");
	}
	return values;
}

function readType(tokens: TokenReader): TypeText {
	tokens.take("|");
	const alternatives = [...readAlternative(tokens)];
	while (tokens.take("|")) alternatives.push(...readAlternative(tokens));
	return alternatives;
}

/** One alternative of a union. An intersection with `{}` is the other half; any other one cannot be said. */
function readAlternative(tokens: TokenReader): TypeText {
	let type = readPostfix(tokens);
	while (tokens.take("&")) {
		const other = readPostfix(tokens);
		if (isEmptyObject(type)) type = other;
		else if (!isEmptyObject(other)) type = ["unknown"];
	}
	return type;
}

function isEmptyObject(type: TypeText): boolean {
	const only = type[0];
	return type.length === 1 && typeof only === "object" && "fields" in only && Object.keys(only.fields).length === 0;
}

function readPostfix(tokens: TokenReader): TypeText {
	if (tokens.peek() === "readonly") tokens.next();
	let type = readPrimary(tokens);
	while (tokens.peek() === "[") {
		tokens.next();
		const isIndexed = tokens.peek() !== "]";
		tokens.skipPast();
		tokens.next();
		type = isIndexed ? ["unknown"] : [{ wrap: "Array", of: type }];
	}
	return type;
}

function readPrimary(tokens: TokenReader): TypeText {
	const token = tokens.peek();
	if (token === "(") return readGroup(tokens);
	if (token === "{") {
		const fields = readFields(tokens);
		const values = fields["[]"];
		return values && Object.keys(fields).length === 1 ? [{ wrap: "Record", of: values }] : [{ fields }];
	}
	if (token === "[") {
		tokens.next();
		tokens.skipPast();
		tokens.next();
		return ["unknown"];
	}
	tokens.next();
	if (/^['"]/.test(token)) return [`'${token.slice(1, -1)}'`];
	if (["typeof", "keyof", "infer", "unique"].includes(token)) {
		readPostfix(tokens);
		return ["unknown"];
	}
	let name = token;
	while (tokens.take(".")) name += `.${tokens.next()}`;
	if (tokens.peek() !== "<") return [name === "undefined" ? "null" : name];
	tokens.next();
	const parameters = [readType(tokens)];
	while (tokens.take(",")) parameters.push(readType(tokens));
	tokens.take(">");
	if (name === "Array" || name === "ReadonlyArray") return [{ wrap: "Array", of: parameters[0] ?? ["unknown"] }];
	if (name === "Record") return [{ wrap: "Record", of: parameters[1] ?? ["unknown"] }];
	return ["unknown"];
}

/** What stands in round brackets: a type, or the parameters of a function, which JSON has not. */
function readGroup(tokens: TokenReader): TypeText {
	tokens.next();
	const type = tokens.peek() === ")" || tokens.peek(1) === ":" ? ["unknown"] : readType(tokens);
	tokens.skipPast();
	tokens.next();
	if (!tokens.take("=>")) return type;
	readType(tokens);
	return ["unknown"];
}

function skipGenerics(tokens: TokenReader): void {
	if (tokens.peek() !== "<") return;
	let depth = 0;
	do {
		const token = tokens.next();
		if (token === "<") depth += 1;
		if (token === ">") depth -= 1;
	} while (depth > 0 && !tokens.isAtEnd());
}
