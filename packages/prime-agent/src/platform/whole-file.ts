import { closeSync, fchmodSync, fsyncSync, openSync, realpathSync, renameSync, statSync, writeSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { ignore } from "../lib/ignore.ts";
import { makeFolder } from "./folder.ts";

/**
 * Replaces a file whole: a crash or a power cut at any moment leaves the old or the new one. Where `path` is a link, the
 * file that it leads to is replaced. The file gets `mode`, else the one that it had, else 0600; its folder is made (0700)
 * if need be. To be called by one process at a time, under a lease.
 * @throws {Error} of the file system as it is; the old file is then untouched.
 */
export function replaceFile(path: string, text: string, mode?: number): void {
	const target = resolveLink(path);
	const folder = dirname(target);
	makeFolder(folder);
	// Only one process writes at a time, so that a draft that is there is what a crash left.
	const draft = join(folder, `.${basename(target)}.draft`);
	const fd = openSync(draft, "w", 0o600);
	try {
		fchmodSync(fd, mode ?? modeOf(target));
		writeAll(fd, Buffer.from(text));
		fsyncSync(fd);
	} finally {
		closeSync(fd);
	}
	renameSync(draft, target);
	syncFolder(folder);
}

/** Where the file really lies: people keep such files elsewhere and link to them. */
function resolveLink(path: string): string {
	try {
		return realpathSync(path);
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === "ENOENT") return path;
		throw error;
	}
}

function modeOf(path: string): number {
	return (statSync(path, { throwIfNoEntry: false })?.mode ?? 0o600) & 0o777;
}

function writeAll(fd: number, bytes: Buffer): void {
	for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done);
}

/** The new name is in the folder, so the folder has to reach the disk as well. */
function syncFolder(folder: string): void {
	const fd = openSync(folder, "r");
	try {
		fsyncSync(fd);
	} catch (error) {
		ignore(error, "some file systems cannot sync folders");
	} finally {
		closeSync(fd);
	}
}
