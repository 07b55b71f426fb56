import { link, readdir, rmdir, stat, unlink } from "node:fs/promises";
import { join } from "node:path";
import { ignore } from "../lib/ignore.ts";
import { readHead } from "./session-header.ts";

/** How older versions named the folder of a project's sessions: the project's path between two dashes. */
const PROJECT_FOLDER = /^--.*--$/;
const SAFE_NAME = /^[\w-]+$/;

/** Whether a name in the folder of sessions is that of a project's folder as older versions made them. */
export function isProjectFolder(name: string): boolean {
	return PROJECT_FOLDER.test(name);
}

/**
 * Moves the sessions of a project's folder into `folder` itself, named like their ids. Nothing is overwritten: a
 * session whose name is taken stays where it is. Resolves with the paths of those that stayed.
 */
export async function moveOlderSessions(folder: string, projectFolder: string): Promise<string[]> {
	const from = join(folder, projectFolder);
	const names = await readdir(from).catch((error: unknown) => {
		ignore(error, "a folder that cannot be read must not hide the sessions beside it");
		return [];
	});
	const stayed: string[] = [];
	for (const name of names.filter((each) => each.endsWith(".jsonl"))) {
		const path = join(from, name);
		if (!(await moveSession(path, folder, name))) stayed.push(path);
	}
	if (stayed.length === 0) await rmdir(from).catch((error: unknown) => ignore(error, "other files are in it"));
	return stayed;
}

async function moveSession(path: string, folder: string, name: string): Promise<boolean> {
	const head = await readHead(path);
	if (head?.cwd === undefined) return false;
	const target = join(folder, SAFE_NAME.test(head.id) ? `${head.id}.jsonl` : name);
	try {
		// A link fails where the name is taken; a rename would replace what is there.
		await link(path, target);
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === "ENOENT" && (await isFile(target))) return true;
		if (!(await isSameFile(path, target))) {
			ignore(error, "the session stays where it is and is listed from there");
			return false;
		}
	}
	await unlink(path).catch((error: unknown) => ignore(error, "both names lead to the same file"));
	return true;
}

/** A move that was interrupted, or one that another process has just made. */
async function isSameFile(one: string, other: string): Promise<boolean> {
	const [a, b] = await Promise.all([one, other].map((path) => stat(path).catch(() => undefined)));
	return a !== undefined && b !== undefined && a.ino === b.ino && a.dev === b.dev;
}

async function isFile(path: string): Promise<boolean> {
	return (await stat(path).catch(() => undefined))?.isFile() === true;
}
