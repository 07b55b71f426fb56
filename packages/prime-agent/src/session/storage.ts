import {
	closeSync,
	constants,
	fdatasync,
	ftruncateSync,
	mkdirSync,
	openSync,
	readFileSync,
	readSync,
	rmSync,
	writeSync,
} from "node:fs";
import { basename, dirname } from "node:path";
import { AgentError } from "../protocol/errors.ts";

const NEWLINE = 0x0a;
const NOTHING = Buffer.alloc(0);

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
	read(offset: number, length: number): Buffer;
	/** Resolves when everything appended so far survives a power cut. */
	sync(): Promise<void>;
	close(): void;
}

/** What reading a session file gave, and the store to go on writing to it. */
export interface OpenedStore {
	readonly store: SessionStore;
	/** All complete lines. */
	readonly bytes: Buffer;
	/** Length of an unfinished last line; it is set aside in `<file>.torn` before the next append. */
	readonly tornBytes: number;
}

/** A store that creates its file (0600, in a folder 0700) with the first append. */
export function createFileStore(file: string): SessionStore {
	return new FileStore(file, 0, undefined);
}

/**
 * Opens an existing session file for reading and appending.
 * @throws {AgentError} `not_found` or `storage_failed`.
 */
export function openFileStore(file: string): OpenedStore {
	const whole = readWhole(file);
	const end = whole.lastIndexOf(NEWLINE) + 1;
	const tail = whole.subarray(end);
	if (tail.length === 0) return { store: new FileStore(file, end, undefined, whole), bytes: whole, tornBytes: 0 };
	// A last line without its newline may still be whole: the write was cut just before the last byte.
	if (isWholeLine(tail)) {
		const bytes = Buffer.concat([whole, Buffer.from("\n")]);
		return { store: new FileStore(file, whole.length, "newline"), bytes, tornBytes: 0 };
	}
	const store = new FileStore(file, end, { torn: Buffer.from(tail) });
	return { store, bytes: whole.subarray(0, end), tornBytes: tail.length };
}

/** A store that keeps nothing on disk. */
export function createMemoryStore(): SessionStore {
	return new MemoryStore();
}

function readWhole(file: string): Buffer {
	try {
		return readFileSync(file);
	} catch (error) {
		const missing = (error as NodeJS.ErrnoException).code === "ENOENT";
		throw new AgentError(
			missing ? "not_found" : "storage_failed",
			missing
				? `There is no session file ${file}.`
				: `The session file ${file} cannot be read: ${(error as Error).message}`,
			{ cause: error },
		);
	}
}

function isWholeLine(bytes: Buffer): boolean {
	try {
		const value: unknown = JSON.parse(bytes.toString("utf8"));
		return typeof value === "object" && value !== null;
	} catch {
		return false;
	}
}

class FileStore implements SessionStore {
	readonly file: string;
	#fd: number | undefined;
	/** Bytes of the file, without an unfinished last line. */
	#written: number;
	/** Lines that wait for the next write. */
	#held: Buffer = NOTHING;
	/** What the last line of the file needs before anything may follow it. */
	#mend: { readonly torn: Buffer } | "newline" | undefined;
	#syncing: Promise<unknown> = Promise.resolve();

	/** What was read at the opening, while memory is not needed otherwise: no further reads for a first long walk. */
	readonly #image: WeakRef<Buffer> | undefined;

	constructor(file: string, written: number, mend: { readonly torn: Buffer } | "newline" | undefined, image?: Buffer) {
		this.#image = image && new WeakRef(image);
		this.file = file;
		this.#written = written;
		this.#mend = mend;
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
		const fd = this.#open();
		this.#mendTail(fd);
		const bytes = this.#held.length === 0 ? lines : Buffer.concat([this.#held, lines]);
		try {
			writeAll(fd, bytes);
		} catch (error) {
			this.#takeBack(fd);
			throw storageError(this.file, error);
		}
		this.#written += bytes.length;
		this.#held = NOTHING;
		return offset;
	}

	read(offset: number, length: number): Buffer {
		const held = offset - (this.size - this.#held.length);
		if (held >= 0) return this.#held.subarray(held, held + length);
		const image = this.#image?.deref();
		if (image && offset + length <= image.length) return image.subarray(offset, offset + length);
		const bytes = Buffer.allocUnsafe(length);
		return bytes.subarray(0, readSync(this.#open(), bytes, 0, length, offset));
	}

	sync(): Promise<void> {
		const fd = this.#fd;
		if (fd === undefined) return Promise.resolve();
		// A sync under way may have begun before the last append, so this one follows it.
		const next = this.#syncing.then(
			() =>
				new Promise<void>((resolve, reject) =>
					fdatasync(fd, (error) => (error ? reject(storageError(this.file, error)) : resolve())),
				),
		);
		this.#syncing = next.catch(() => undefined);
		return next;
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
			if (isNew) mkdirSync(dirname(this.file), { recursive: true, mode: 0o700 });
			const { O_RDWR, O_APPEND, O_CREAT, O_EXCL } = constants;
			// A new session must not write into a file that somebody else made under its name.
			this.#fd = openSync(this.file, O_RDWR | O_APPEND | (isNew ? O_CREAT | O_EXCL : 0), 0o600);
			return this.#fd;
		} catch (error) {
			throw storageError(this.file, error);
		}
	}

	/** Removes what a failed write left; a file that never had a whole line does not stay behind empty. */
	#takeBack(fd: number): void {
		ftruncateSync(fd, this.#written);
		if (this.#written > 0) return;
		this.close();
		rmSync(this.file, { force: true });
	}

	/** Puts an unfinished last line out of the way, so that the next line does not continue it. */
	#mendTail(fd: number): void {
		const mend = this.#mend;
		if (mend === undefined) return;
		try {
			if (mend === "newline") {
				writeAll(fd, Buffer.from("\n"));
				this.#written += 1;
			} else {
				setAside(`${this.file}.torn`, mend.torn);
				ftruncateSync(fd, this.#written);
			}
			this.#mend = undefined;
		} catch (error) {
			throw storageError(this.file, error);
		}
	}
}

class MemoryStore implements SessionStore {
	readonly file = undefined;
	#bytes = Buffer.alloc(4096);
	#size = 0;

	get size(): number {
		return this.#size;
	}

	append(lines: Buffer): number {
		const offset = this.#size;
		const needed = offset + lines.length;
		if (needed > this.#bytes.length) {
			const grown = Buffer.alloc(Math.max(needed, this.#bytes.length * 2));
			this.#bytes.copy(grown, 0, 0, offset);
			this.#bytes = grown;
		}
		lines.copy(this.#bytes, offset);
		this.#size = needed;
		return offset;
	}

	read(offset: number, length: number): Buffer {
		return this.#bytes.subarray(offset, offset + length);
	}

	sync(): Promise<void> {
		return Promise.resolve();
	}

	close(): void {
		this.#bytes = Buffer.alloc(0);
	}
}

function setAside(file: string, bytes: Buffer): void {
	const fd = openSync(file, "a", 0o600);
	try {
		writeAll(fd, Buffer.concat([bytes, Buffer.from("\n")]));
	} finally {
		closeSync(fd);
	}
}

/** A short write happens when the disk fills up: the rest is tried, so that the real error comes out. */
function writeAll(fd: number, bytes: Buffer): void {
	for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done, bytes.length - done);
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
