import { findJsonFault } from "../lib/json-fault.ts";
import { errorText } from "../lib/text.ts";
import { readTextFile } from "./text-file.ts";

/** A JSON file: its value, or that there is none, or why it could not be read. */
export type JsonFile =
	| { readonly kind: "value"; readonly value: unknown }
	| { readonly kind: "missing" }
	| { readonly kind: "broken"; readonly reason: string };

/**
 * Reads and parses a small file of JSON. Never throws: what is wrong with the file is part of the answer. Waits for
 * the disk, because a start reads a few such files and a detour through another thread costs more than the reading.
 */
export function readJsonFile(path: string): JsonFile {
	let text: string;
	try {
		text = readTextFile(path);
	} catch (error) {
		const code = (error as NodeJS.ErrnoException).code;
		if (code === "ENOENT" || code === "ENOTDIR") return { kind: "missing" };
		return { kind: "broken", reason: code === undefined ? errorText(error) : `it cannot be read (${code})` };
	}
	const json = text.replace(/^\uFEFF/, "");
	try {
		return { kind: "value", value: JSON.parse(json) };
	} catch {
		// The parser's message quotes the text around the fault, which may be a key.
		const { line, column } = findJsonFault(json);
		return { kind: "broken", reason: `it is not valid JSON (line ${line}, column ${column})` };
	}
}
