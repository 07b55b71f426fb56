import type { Dirent } from "node:fs";
import { readdir, realpath, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { type Environment, expandHome } from "../platform/paths.ts";
import { isProjectFolder, moveOlderSessions } from "./older-sessions.ts";
import { readHead, type SessionHead } from "./session-header.ts";

/** A saved session, as its beginning tells it. */
export interface SessionFile {
	readonly path: string;
	readonly header: SessionHead;
	/** When the file was last written, in milliseconds since 1970. */
	readonly modified: number;
}

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

/**
 * All sessions of a folder, newest first. Reads only their heads; files that are no sessions are left out. Sessions
 * that older versions kept in a folder per project are moved here first.
 */
export async function listSessions(folder: string): Promise<readonly SessionFile[]> {
	const paths = await listNewest(folder);
	const sessions: SessionFile[] = [];
	for (const { path, modified } of paths) {
		const header = await readHead(path);
		if (header) sessions.push({ path, header, modified });
	}
	return sessions;
}

/** The newest session whose work was in `cwd`, or undefined. */
export async function findNewest(folder: string, cwd: string): Promise<SessionFile | undefined> {
	return (await findLatest(folder, cwd, 1))[0];
}

/** At most `count` sessions whose work was in `cwd`, newest first. */
export async function findLatest(folder: string, cwd: string, count: number): Promise<readonly SessionFile[]> {
	const wanted = await realPathOf(cwd);
	const found: SessionFile[] = [];
	for (const { path, modified } of await listNewest(folder)) {
		if (found.length === count) break;
		const header = await readHead(path);
		if (header?.cwd !== undefined && (await realPathOf(header.cwd)) === wanted) found.push({ path, header, modified });
	}
	return found;
}

/** The session of a file, or undefined where there is no file or it does not begin like a session. */
export async function readSession(path: string): Promise<SessionFile | undefined> {
	const header = await readHead(path);
	return header && { path, header, modified: (await stat(path)).mtimeMs };
}

async function listNewest(folder: string): Promise<{ path: string; modified: number }[]> {
	const older = (await readFolder(folder)).filter((entry) => entry.isDirectory() && isProjectFolder(entry.name));
	const stayed: string[] = [];
	for (const { name } of older) stayed.push(...(await moveOlderSessions(folder, name)));
	const names = (await readFolder(folder)).map((entry) => entry.name).filter((name) => name.endsWith(".jsonl"));
	const paths = [...names.map((name) => join(folder, name)), ...stayed];
	const files = await Promise.all(paths.map(readTime));
	return files.filter((file) => file !== undefined).sort((a, b) => b.modified - a.modified);
}

async function readFolder(folder: string): Promise<Dirent[]> {
	try {
		return await readdir(folder, { withFileTypes: true });
	} catch (error) {
		const code = (error as NodeJS.ErrnoException).code;
		if (code === "ENOENT") return [];
		throw new Error(`The sessions in ${folder} cannot be listed (${code ?? String(error)}).`, { cause: error });
	}
}

async function readTime(path: string): Promise<{ path: string; modified: number } | undefined> {
	try {
		return { path, modified: (await stat(path)).mtimeMs };
	} catch {
		// Gone or out of reach since the folder was read: then it is no session to offer.
		return undefined;
	}
}

async function realPathOf(path: string): Promise<string> {
	try {
		return await realpath(path);
	} catch {
		// A folder that is gone is still known by its name.
		return resolve(path);
	}
}
