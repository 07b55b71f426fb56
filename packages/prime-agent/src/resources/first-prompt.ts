import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { ignore } from "../lib/ignore.ts";
import { isJsonObject } from "../lib/json.ts";

/** So far into a file the first prompt is looked for; whole files may have been piped into it. */
const LIMIT = 1024 * 1024;

/** What was said first in a session; undefined where the beginning of its file does not tell. */
export async function readFirstPrompt(path: string): Promise<string | undefined> {
	let file: FileHandle | undefined;
	try {
		file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
		if (!(await file.stat()).isFile()) return undefined;
		const { buffer, bytesRead } = await file.read(Buffer.alloc(LIMIT), 0, LIMIT, 0);
		return findPrompt(buffer.toString("utf8", 0, bytesRead));
	} catch (error) {
		ignore(error, "a session can be named without its first prompt");
		return undefined;
	} finally {
		await file?.close();
	}
}

function findPrompt(text: string): string | undefined {
	for (const line of text.split("\n")) {
		const said = promptOf(line);
		if (said !== undefined) return said;
	}
	return undefined;
}

function promptOf(line: string): string | undefined {
	let entry: unknown;
	try {
		entry = JSON.parse(line);
	} catch {
		// Damaged, or cut at the limit: then it says nothing.
		return undefined;
	}
	if (!isJsonObject(entry) || entry.type !== "message" || !isJsonObject(entry.message)) return undefined;
	const { role, content } = entry.message;
	if (role !== "user") return undefined;
	if (typeof content === "string") return content;
	if (!Array.isArray(content)) return undefined;
	return content.map((block) => (isJsonObject(block) && typeof block.text === "string" ? block.text : "")).join(" ");
}
