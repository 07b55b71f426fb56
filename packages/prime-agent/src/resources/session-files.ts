import { type FileHandle, open, readdir, realpath, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { isJsonObject } from "../platform/json-file.ts";
import { type Environment, expandHome } from "../platform/paths.ts";
import type { SessionHeader } from "../protocol/entry.ts";

/** A saved session, as its first line tells it. */
export interface SessionFile {
	readonly path: string;
	readonly header: Pick<SessionHeader, "id" | "timestamp" | "cwd">;
	/** When the file was last written, in milliseconds since 1970. */
	readonly modified: number;
}

/** A first line longer than this is not one of ours. */
const HEAD_LIMIT = 64 * 1024;
const HEAD_STEP = 4 * 1024;

/** The folder of saved sessions: the flag, the environment, the settings, then the agent folder's own. */
export function sessionFolder(options: {
	readonly flag?: string | undefined;
	readonly settings?: string | undefined;
	readonly agentFolder: string;
	readonly cwd: string;
	readonly env: Environment;
}): string {
	const { env } = options;
	const named = options.flag ?? (env.PRIME_AGENT_SESSION_DIR || env.PRIME_AGENT_CODING_AGENT_SESSION_DIR);
	if (named) return resolve(options.cwd, expandHome(named, env));
	return options.settings ?? join(options.agentFolder, "sessions");
}

/** All sessions of a folder, newest first. Reads only their heads; files that are no sessions are left out. */
export async function listSessions(folder: string): Promise<readonly SessionFile[]> {
	const paths = await listNewest(folder);
	const sessions: SessionFile[] = [];
	for (const { path, modified } of paths) {
		const header = await readHeader(path);
		if (header) sessions.push({ path, header, modified });
	}
	return sessions;
}

/** The newest session whose work was in `cwd`, or undefined. */
export async function findNewest(folder: string, cwd: string): Promise<SessionFile | undefined> {
	const wanted = await realPathOf(cwd);
	for (const { path, modified } of await listNewest(folder)) {
		const header = await readHeader(path);
		if (header && (await realPathOf(header.cwd)) === wanted) return { path, header, modified };
	}
	return undefined;
}

/** The session of a file, or undefined where there is no file or it does not begin like a session. */
export async function readSession(path: string): Promise<SessionFile | undefined> {
	const header = await readHeader(path);
	return header && { path, header, modified: (await stat(path)).mtimeMs };
}

async function listNewest(folder: string): Promise<{ path: string; modified: number }[]> {
	let names: string[];
	try {
		names = await readdir(folder);
	} catch (error) {
		const code = (error as NodeJS.ErrnoException).code;
		if (code === "ENOENT") return [];
		throw new Error(`The sessions in ${folder} cannot be listed (${code ?? String(error)}).`, { cause: error });
	}
	const files = await Promise.all(
		names.filter((name) => name.endsWith(".jsonl")).map((name) => readTime(join(folder, name))),
	);
	return files.filter((file) => file !== undefined).sort((a, b) => b.modified - a.modified);
}

async function readTime(path: string): Promise<{ path: string; modified: number } | undefined> {
	try {
		return { path, modified: (await stat(path)).mtimeMs };
	} catch {
		// Gone or out of reach since the folder was read: then it is no session to offer.
		return undefined;
	}
}

async function readHeader(path: string): Promise<SessionFile["header"] | undefined> {
	let file: FileHandle | undefined;
	try {
		file = await open(path, "r");
		const line = await readFirstLine(file);
		return line === undefined ? undefined : parseHeader(line);
	} catch {
		// What cannot be read or parsed is no session; it must not hide the others.
		return undefined;
	} finally {
		await file?.close();
	}
}

async function readFirstLine(file: FileHandle): Promise<string | undefined> {
	const buffer = Buffer.alloc(HEAD_LIMIT);
	for (let length = 0; length < HEAD_LIMIT; ) {
		const { bytesRead } = await file.read(buffer, length, Math.min(HEAD_STEP, HEAD_LIMIT - length), length);
		const end = buffer.subarray(length, length + bytesRead).indexOf(10);
		if (end >= 0) return buffer.toString("utf8", 0, length + end);
		if (bytesRead === 0) return buffer.toString("utf8", 0, length);
		length += bytesRead;
	}
	return undefined;
}

function parseHeader(line: string): SessionFile["header"] | undefined {
	const value: unknown = JSON.parse(line);
	if (!isJsonObject(value) || value.type !== "session") return undefined;
	const { id, timestamp, cwd } = value;
	if (typeof id !== "string" || typeof cwd !== "string" || typeof timestamp !== "string") return undefined;
	return { id, timestamp, cwd };
}

async function realPathOf(path: string): Promise<string> {
	try {
		return await realpath(path);
	} catch {
		return resolve(path);
	}
}
