import { readFile } from "node:fs/promises";

/** A JSON file: its value, or that there is none, or why it could not be read. */
export type JsonFile =
	| { readonly kind: "value"; readonly value: unknown }
	| { readonly kind: "missing" }
	| { readonly kind: "broken"; readonly reason: string };

/** Reads and parses a file of JSON. Never rejects: what is wrong with the file is part of the answer. */
export async function readJsonFile(path: string): Promise<JsonFile> {
	let text: string;
	try {
		text = await readFile(path, "utf8");
	} catch (error) {
		const code = (error as NodeJS.ErrnoException).code;
		if (code === "ENOENT" || code === "ENOTDIR") return { kind: "missing" };
		return { kind: "broken", reason: `it cannot be read (${code ?? String(error)})` };
	}
	try {
		return { kind: "value", value: JSON.parse(text.replace(/^\uFEFF/, "")) };
	} catch {
		// The parser's message quotes the text around the fault, which may be a key.
		return { kind: "broken", reason: "it is not valid JSON" };
	}
}

/** Whether a value is a JSON object. */
export function isJsonObject(value: unknown): value is Record<string, unknown> {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}
