import { randomBytes } from "node:crypto";
import { constants, type Stats } from "node:fs";
import {
	access,
	chown,
	type FileHandle,
	mkdir,
	open,
	readdir,
	readFile,
	readlink,
	realpath,
	rename,
	rm,
	stat,
	unlink,
	writeFile,
} from "node:fs/promises";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { type DirectoryEntry, EnvironmentError, type EnvironmentErrorCode, type FileStatus } from "./environment.ts";

const codes: Record<string, [EnvironmentErrorCode, string]> = {
	ENOENT: ["not_found", "not found"],
	EISDIR: ["is_directory", "is a directory"],
	ENOTDIR: ["not_directory", "a part of the path is not a directory"],
	// A folder that should be made where a file is.
	EEXIST: ["not_directory", "a part of the path is not a directory"],
	ELOOP: ["failed", "its links lead in a circle"],
	EACCES: ["no_permission", "permission denied"],
	EPERM: ["no_permission", "permission denied"],
	EROFS: ["no_permission", "the file system is read-only"],
	EAGAIN: ["failed", "gives nothing now and may later"],
	ENOSPC: ["disk_full", "the disk is full"],
	EDQUOT: ["disk_full", "the disk quota is used up"],
};

/** The environment's error for a failed file operation on `path`. */
export function fileError(error: unknown, path: string): EnvironmentError {
	if (error instanceof EnvironmentError) return error;
	const known = codes[(error as NodeJS.ErrnoException)?.code ?? ""];
	if (known) return new EnvironmentError(known[0], `${path}: ${known[1]}`, error);
	return new EnvironmentError("failed", `${path}: ${error instanceof Error ? error.message : String(error)}`, error);
}

function isMissing(error: unknown): boolean {
	const code = (error as NodeJS.ErrnoException).code;
	return code === "ENOENT" || code === "ENOTDIR";
}

/** As many links as the kernel follows in one path. */
const mostLinks = 40;

/** Where the link at `path` leads; `undefined` where no link is. */
async function readTarget(path: string): Promise<string | undefined> {
	try {
		return resolve(await realpath(dirname(path)), await readlink(path));
	} catch (error) {
		const code = (error as NodeJS.ErrnoException).code;
		if (code === "EINVAL" || isMissing(error)) return undefined;
		throw error;
	}
}

/**
 * The real path behind an absolute path; parts that do not exist are kept as they are below the part that does. A link
 * that leads nowhere is followed too, because a write would go where it leads.
 */
export async function resolveReal(path: string): Promise<string> {
	let existing = path;
	let links = 0;
	const missing: string[] = [];
	for (;;) {
		try {
			return join(await realpath(existing), ...missing);
		} catch (error) {
			const parent = dirname(existing);
			if (!isMissing(error) || parent === existing) throw fileError(error, path);
			const target = await readTarget(existing);
			if (target !== undefined && ++links > mostLinks) throw fileError(error, path);
			if (target === undefined) missing.unshift(basename(existing));
			existing = target ?? parent;
		}
	}
}

function kindOf(entry: Pick<Stats, "isFile" | "isDirectory">): FileStatus["kind"] {
	if (entry.isFile()) return "file";
	return entry.isDirectory() ? "directory" : "other";
}

/** What is at `path`, links followed; `undefined` where nothing is. */
export async function readStatus(path: string): Promise<FileStatus | undefined> {
	try {
		const found = await stat(path);
		const identity = `${found.dev}:${found.ino}`;
		return { kind: kindOf(found), size: found.size, modifiedAt: found.mtimeMs, identity };
	} catch (error) {
		if (isMissing(error)) return undefined;
		throw fileError(error, path);
	}
}

/** The whole content of a regular file; a device or a pipe, which could block for ever, is refused. */
export async function readWhole(path: string, signal?: AbortSignal): Promise<Uint8Array> {
	try {
		const found = await stat(path);
		if (found.isDirectory()) throw new EnvironmentError("is_directory", `${path}: is a directory`);
		if (!found.isFile()) throw new EnvironmentError("failed", `${path}: is not a regular file`);
		// Some files of the system count as regular and wait for more without end.
		return await readFile(path, { signal, flag: constants.O_RDONLY | constants.O_NONBLOCK });
	} catch (error) {
		if (signal?.aborted) throw new EnvironmentError("aborted", "aborted", error);
		throw fileError(error, path);
	}
}

async function statOrUndefined(path: string): Promise<Stats | undefined> {
	try {
		return await stat(path);
	} catch (error) {
		if (isMissing(error)) return undefined;
		throw error;
	}
}

/** Writes beside the target and renames, so that a crash leaves the old or the new content, never a part. */
async function replaceFile(path: string, content: Uint8Array, old: Stats | undefined, mode: number | undefined) {
	const temporary = join(dirname(path), `.${basename(path).slice(0, 64)}.${randomBytes(6).toString("hex")}.tmp`);
	const handle = await open(temporary, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o666);
	try {
		try {
			await handle.writeFile(content);
			if (old && (old.uid !== process.getuid?.() || old.gid !== process.getgid?.())) {
				await chown(temporary, old.uid, old.gid);
			}
			if (mode !== undefined) await handle.chmod(mode & 0o7777);
			await handle.sync();
		} finally {
			await handle.close();
		}
		await rename(temporary, path);
	} catch (error) {
		await rm(temporary, { force: true });
		throw error;
	}
}

async function writeFrom(handle: FileHandle, content: Uint8Array, start: number, end: number): Promise<void> {
	for (let at = start; at < end; ) at += (await handle.write(content, at, end - at, at)).bytesWritten;
}

/** Writes into the file itself; the part that needs new room comes first, so that a full disk leaves the old content. */
export async function overwriteFile(path: string, content: Uint8Array): Promise<void> {
	const handle = await open(path, constants.O_WRONLY);
	try {
		const { size } = await handle.stat();
		try {
			await writeFrom(handle, content, size, content.length);
		} catch (error) {
			await handle.truncate(size);
			throw error;
		}
		await writeFrom(handle, content, 0, Math.min(size, content.length));
		await handle.truncate(content.length);
		await handle.sync();
	} finally {
		await handle.close();
	}
}

// A folder that takes no new files, an owner that cannot be kept, a file that is mounted by itself.
const inPlaceCodes = new Set(["EACCES", "EPERM", "EBUSY"]);

/**
 * Makes a folder and those above it where they are missing. One by one: Node's `recursive` never returns where the
 * system refuses a folder with ENOENT, as `/proc` does.
 */
async function makeFolder(path: string): Promise<void> {
	const isFolder = async () => (await statOrUndefined(path))?.isDirectory() === true;
	if (await isFolder()) return;
	const parent = dirname(path);
	if (parent !== path) await makeFolder(parent);
	try {
		await mkdir(path);
	} catch (error) {
		// Somebody else may have made it in this moment.
		if (!(await isFolder())) throw error;
	}
}

/**
 * Replaces a file's content, following links, creating parent folders. An existing file keeps its mode; with `like` the
 * file gets the mode of that one.
 */
export async function writeWhole(path: string, content: Uint8Array, like?: string): Promise<void> {
	try {
		const target = await resolveReal(path);
		await makeFolder(dirname(target));
		const old = await statOrUndefined(target);
		if (old?.isDirectory()) throw new EnvironmentError("is_directory", `${path}: is a directory`);
		if (old?.isCharacterDevice()) return await writeFile(target, content);
		// A pipe or a socket could take the content for ever.
		if (old && !old.isFile()) throw new EnvironmentError("failed", `${path}: is not a regular file`);
		// A rename would replace a file that nobody may write.
		if (old) await access(target, constants.W_OK);
		const model = like === undefined ? old : await stat(like);
		try {
			await replaceFile(target, content, old, model?.mode);
		} catch (error) {
			if (!old || !inPlaceCodes.has((error as NodeJS.ErrnoException).code ?? "")) throw error;
			await overwriteFile(target, content);
		}
	} catch (error) {
		throw fileError(error, path);
	}
}

/** Gives a file or a link another name. */
export async function renameOne(from: string, to: string): Promise<void> {
	try {
		await rename(from, to);
	} catch (error) {
		throw fileError(error, from);
	}
}

/** Deletes a file or a link, never a folder. */
export async function deleteOne(path: string): Promise<void> {
	try {
		await unlink(path);
	} catch (error) {
		const found = await readStatus(path);
		if (found?.kind === "directory") throw new EnvironmentError("is_directory", `${path}: is a directory`, error);
		throw fileError(error, path);
	}
}

/** Compares by code unit, the same on every machine. */
export function compareText(a: string, b: string): number {
	return a < b ? -1 : a > b ? 1 : 0;
}

/** Entries below a folder down to `depth` levels; links are listed and not followed. */
export async function listEntries(path: string, depth: number, signal?: AbortSignal): Promise<DirectoryEntry[]> {
	const found: DirectoryEntry[] = [];
	const visit = async (folder: string, level: number): Promise<void> => {
		if (signal?.aborted) throw new EnvironmentError("aborted", "aborted");
		const entries = await readdir(folder, { withFileTypes: true });
		for (const entry of entries) {
			const full = join(folder, entry.name);
			const kind = entry.isSymbolicLink() ? "link" : kindOf(entry);
			found.push({ path: relative(path, full).split(sep).join("/"), kind });
			if (kind === "directory" && level < depth) await visit(full, level + 1);
		}
	};
	try {
		await visit(path, 1);
	} catch (error) {
		throw fileError(error, path);
	}
	return found.sort((a, b) => compareText(a.path, b.path));
}
