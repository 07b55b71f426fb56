import { closeSync, constants, fdatasync, ftruncateSync, openSync, readSync, rmSync, writeSync } from "node:fs";
import { basename, dirname } from "node:path";
import { ignore } from "../lib/ignore.ts";
import { AgentError } from "../protocol/errors.ts";
import { type Mend, readTail } from "./storage/tail.ts";

const NOTHING = Buffer.alloc(0);
/** Bytes that are read at once. */
const BLOCK = 256 * 1024;

/** Bytes of one session: they only grow, and whole lines at a time. */
export interface SessionStore {
	/** Absolute path, or undefined for a store in memory. */
	readonly file: string | undefined;
	/** Bytes that the store has, held ones included. */
	readonly size: number;
	/**
	 * Adds whole lines in one write and returns where they begin. Either all bytes are in the store or none.
	 * With `hold` they stay in memory and are written together with the next lines.
	 * @throws {AgentError} `storage_full` or `storage_failed`; the store stays readable and can be tried again.
	 */
	append(lines: Buffer, options?: { readonly hold?: boolean }): number;
	/** The bytes at an offset, fewer at the end; they are valid until the next call. */
	read(offset: number, length: number): Buffer;
	/** The same as text, without an object for the bytes. */
	readText(offset: number, length: number): string;
	/** Resolves when everything appended so far survives a power cut. */
	sync(): Promise<void>;
	close(): void;
}

/** An existing session file, ready to be read and continued. */
export interface OpenedStore {
	readonly store: SessionStore;
	/** Length of an unfinished last line; it is set aside in `<file>.torn` before the next append. */
	readonly tornBytes: number;
}

/** What a store asks of the file system when it changes a file; as Node's functions of these names. */
export interface Disk {
	writeSync(fd: number, bytes: Buffer, offset: number, length: number): number;
	ftruncateSync(fd: number, size: number): void;
	fdatasync(fd: number, done: (error: NodeJS.ErrnoException | null) => void): void;
}

const DISK: Disk = { writeSync, ftruncateSync, fdatasync };

/** A store that creates its file (0600) with the first append, in a folder that `makeFolder` makes. */
export function createFileStore(file: string, makeFolder: (path: string) => void, disk = DISK): SessionStore {
	return new FileStore({ file, makeFolder, disk, written: 0 });
}

/**
 * Opens an existing session file for reading and appending.
 * @throws {AgentError} `not_found` or `storage_failed`.
 */
export function openFileStore(file: string, disk = DISK): OpenedStore {
	const fd = openExisting(file);
	const { size, mend } = readTail(fd);
	const store = new FileStore({ file, disk, written: size, fd, ...(mend ? { mend } : {}) });
	return { store, tornBytes: typeof mend === "object" ? mend.torn.length : 0 };
}

function openExisting(file: string): number {
	try {
		return openSync(file, constants.O_RDWR | constants.O_APPEND);
	} catch (error) {
		const missing = (error as NodeJS.ErrnoException).code === "ENOENT";
		throw new AgentError(
			missing ? "not_found" : "storage_failed",
			missing
				? `There is no session file ${file}.`
				: `The session file ${file} cannot be opened: ${(error as Error).message}`,
			{ cause: error },
		);
	}
}

class FileStore implements SessionStore {
	readonly file: string;
	readonly #makeFolder: ((path: string) => void) | undefined;
	readonly #disk: Disk;
	#fd: number | undefined;
	/** Bytes of the file, without an unfinished last line. */
	#written: number;
	/** Lines that wait for the next write. */
	#held: Buffer = NOTHING;
	#mend: Mend | undefined;
	/** A write failed and what it left is still there; nothing is written behind it. */
	#isSoiled = false;
	/** Something was written since the last sync began. */
	#isUnsynced = false;
	#lastSync: Promise<void> = Promise.resolve();

	/** What was read last: walks over many entries, mostly towards the beginning, read the file in blocks. */
	#block: { readonly bytes: Buffer; offset: number; length: number } | undefined;

	constructor(parts: {
		readonly file: string;
		readonly makeFolder?: (path: string) => void;
		readonly disk: Disk;
		readonly written: number;
		readonly mend?: Mend;
		readonly fd?: number;
	}) {
		this.file = parts.file;
		this.#makeFolder = parts.makeFolder;
		this.#disk = parts.disk;
		this.#written = parts.written;
		this.#mend = parts.mend;
		this.#fd = parts.fd;
	}

	get size(): number {
		return this.#written + (this.#mend === "newline" ? 1 : 0) + this.#held.length;
	}

	append(lines: Buffer, options: { readonly hold?: boolean } = {}): number {
		const offset = this.size;
		if (options.hold) {
			this.#held = Buffer.concat([this.#held, lines]);
			return offset;
		}
		if (this.#isSoiled) this.#takeBack();
		const fd = this.#open();
		this.#mendTail(fd);
		const bytes = this.#held.length === 0 ? lines : Buffer.concat([this.#held, lines]);
		try {
			writeAll(this.#disk, fd, bytes);
		} catch (error) {
			this.#isSoiled = true;
			try {
				this.#takeBack();
			} catch (cause) {
				ignore(cause, "the next append tries again, and opening the file would set the rest aside");
			}
			throw storageError(this.file, error);
		}
		this.#written += bytes.length;
		this.#held = NOTHING;
		this.#isUnsynced = true;
		return offset;
	}

	read(offset: number, length: number): Buffer {
		const held = offset - (this.size - this.#held.length);
		if (held >= 0) return this.#held.subarray(held, held + length);
		if (length > BLOCK) {
			const bytes = Buffer.allocUnsafe(length);
			return bytes.subarray(0, readSync(this.#open(), bytes, 0, length, offset));
		}
		this.#block ??= { bytes: Buffer.allocUnsafeSlow(BLOCK), offset: 0, length: 0 };
		const block = this.#block;
		const end = Math.min(offset + length, this.#written);
		if (offset < block.offset || end > block.offset + block.length) {
			block.offset = Math.max(0, end - BLOCK);
			block.length = readSync(this.#open(), block.bytes, 0, BLOCK, block.offset);
		}
		return block.bytes.subarray(offset - block.offset, end - block.offset);
	}

	readText(offset: number, length: number): string {
		const block = this.#block;
		const end = offset + length;
		if (!block || offset < block.offset || end > block.offset + block.length) {
			return this.read(offset, length).toString("utf8");
		}
		return block.bytes.toString("utf8", offset - block.offset, end - block.offset);
	}

	sync(): Promise<void> {
		const fd = this.#fd;
		// The last one, done or under way, covers everything.
		if (fd === undefined || !this.#isUnsynced) return this.#lastSync;
		this.#isUnsynced = false;
		// A sync under way may have begun before the last append, so this one follows it, whatever came of it.
		const before = this.#lastSync.catch((error: unknown) => ignore(error, "whoever waits for that sync is told"));
		const next = before.then(() => this.#flush(fd));
		this.#lastSync = next;
		return next;
	}

	async #flush(fd: number): Promise<void> {
		const error = await new Promise<Error | null>((done) => this.#disk.fdatasync(fd, done));
		if (!error) return;
		this.#isUnsynced = true;
		throw storageError(this.file, error);
	}

	close(): void {
		if (this.#fd === undefined) return;
		closeSync(this.#fd);
		this.#fd = undefined;
	}

	#open(): number {
		if (this.#fd !== undefined) return this.#fd;
		const isNew = this.#written === 0 && this.#mend === undefined;
		try {
			if (isNew) this.#makeFolder?.(dirname(this.file));
			const { O_RDWR, O_APPEND, O_CREAT, O_EXCL } = constants;
			// A new session must not write into a file that somebody else made under its name.
			this.#fd = openSync(this.file, O_RDWR | O_APPEND | (isNew ? O_CREAT | O_EXCL : 0), 0o600);
			return this.#fd;
		} catch (error) {
			throw storageError(this.file, error);
		}
	}

	/** Removes what a failed write left; a file that never had a whole line does not stay behind empty. */
	#takeBack(): void {
		try {
			this.#disk.ftruncateSync(this.#open(), this.#written);
			if (this.#written === 0) {
				this.close();
				rmSync(this.file, { force: true });
			}
			this.#isSoiled = false;
		} catch (error) {
			throw storageError(this.file, error);
		}
	}

	/** Puts an unfinished last line out of the way, so that the next line does not continue it. */
	#mendTail(fd: number): void {
		const mend = this.#mend;
		if (mend === undefined) return;
		try {
			if (mend === "newline") {
				writeAll(this.#disk, fd, Buffer.from("\n"));
				this.#written += 1;
			} else {
				setAside(`${this.file}.torn`, mend.torn);
				this.#disk.ftruncateSync(fd, this.#written);
			}
			this.#mend = undefined;
		} catch (error) {
			throw storageError(this.file, error);
		}
	}
}

function setAside(file: string, bytes: Buffer): void {
	const fd = openSync(file, "a", 0o600);
	try {
		writeAll(DISK, fd, Buffer.concat([bytes, Buffer.from("\n")]));
	} finally {
		closeSync(fd);
	}
}

/** A short write happens when the disk fills up: the rest is tried, so that the real error comes out. */
function writeAll(disk: Disk, fd: number, bytes: Buffer): void {
	for (let done = 0; done < bytes.length; ) done += disk.writeSync(fd, bytes, done, bytes.length - done);
}

function storageError(file: string, error: unknown): AgentError {
	const code = (error as NodeJS.ErrnoException).code;
	if (code === "ENOSPC" || code === "EDQUOT") {
		return new AgentError(
			"storage_full",
			`The disk is full: session ${basename(file)} could not be saved. Free some space and try again; everything saved before is intact.`,
			{ cause: error },
		);
	}
	return new AgentError("storage_failed", `The session file ${file} cannot be written: ${(error as Error).message}`, {
		cause: error,
	});
}
