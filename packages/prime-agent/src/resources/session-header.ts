import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { basename } from "node:path";
import { isJsonObject } from "../lib/json.ts";

/** What the beginning of a session file tells. */
export interface SessionHead {
	readonly id: string;
	/** ISO 8601; empty where it is lost. */
	readonly timestamp: string;
	/** Folder of the work; undefined where the line that says it is damaged. */
	readonly cwd: string | undefined;
}

/** So far into a file a header, or at least an entry, is looked for. */
const HEAD_LIMIT = 64 * 1024;
const HEAD_STEP = 4 * 1024;
const NEWLINE = 10;

/**
 * Reads what a session file begins with. A damaged line hides nothing: the header may come after it, and where the
 * header is lost but entries are there, or the file cannot be read, its name stands for the id. Undefined for what is
 * no session.
 */
export async function readHead(path: string): Promise<SessionHead | undefined> {
	let file: FileHandle | undefined;
	try {
		// Without this flag opening a pipe waits for its writer, and nothing could call that off.
		file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
		if (!(await file.stat()).isFile()) return undefined;
		return await findHead(file, path);
	} catch (error) {
		const { code } = error as NodeJS.ErrnoException;
		if (code === "ENOENT" || code === "EISDIR") return undefined;
		// Whoever opens it is told why it cannot be read; "not found" would be wrong.
		return headOfName(path);
	} finally {
		await file?.close();
	}
}

function headOfName(path: string): SessionHead {
	return { id: basename(path, ".jsonl"), timestamp: "", cwd: undefined };
}

async function findHead(file: FileHandle, path: string): Promise<SessionHead | undefined> {
	const buffer = Buffer.alloc(HEAD_LIMIT);
	let lineStart = 0;
	let hasEntries = false;
	for (let length = 0; length < HEAD_LIMIT; ) {
		const { bytesRead } = await file.read(buffer, length, Math.min(HEAD_STEP, HEAD_LIMIT - length), length);
		if (bytesRead > 0) length += bytesRead;
		else if (length > lineStart) buffer[length++] = NEWLINE;
		else break;
		for (;;) {
			const end = buffer.subarray(0, length).indexOf(NEWLINE, lineStart);
			if (end < 0) break;
			const line = buffer.toString("utf8", lineStart, end);
			lineStart = end + 1;
			const head = readHeader(line);
			if (head) return head;
			hasEntries ||= isEntry(line);
		}
	}
	return hasEntries ? headOfName(path) : undefined;
}

/** A crash may have left half a header in front of the whole one, on the same line. */
function readHeader(line: string): SessionHead | undefined {
	const value = parse(line) ?? parse(line.slice(Math.max(0, line.lastIndexOf('{"type":"session"'))));
	if (value?.type !== "session") return undefined;
	const { id, timestamp, cwd } = value;
	if (typeof id !== "string" || typeof cwd !== "string" || typeof timestamp !== "string") return undefined;
	return { id, timestamp, cwd };
}

function isEntry(line: string): boolean {
	const value = parse(line);
	return typeof value?.type === "string" && value.type !== "session" && typeof value.id === "string";
}

function parse(text: string): Record<string, unknown> | undefined {
	try {
		const value: unknown = JSON.parse(text);
		return isJsonObject(value) ? value : undefined;
	} catch {
		// A line that was cut or overwritten says nothing.
		return undefined;
	}
}
