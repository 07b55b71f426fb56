import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { UsageError } from "./errors.ts";

/** Most bytes that a prompt takes from one file or pipe: more than any model reads, less than fills the memory. */
export const MOST_BYTES = 32 * 1024 * 1024;

const STEP = 64 * 1024;
/** How often a silent pipe is looked at, in milliseconds. */
const LOOK_MS = 20;

/** The error for input that does not end within the limit. */
export function tooLarge(what: string): UsageError {
	return new UsageError(`${what} is larger than ${MOST_BYTES / 1024 / 1024} MB. Name its path in the prompt instead.`);
}

/**
 * Reads a file or a pipe to its end; rejects when `signal` aborts.
 * @throws {UsageError} for a folder, for a pipe that gives nothing, and for what is larger than `MOST_BYTES`, which a device without an end is, too.
 */
export async function readPromptBytes(path: string, signal: AbortSignal): Promise<Buffer> {
	// Without this flag opening a pipe waits for its writer, and nothing could call that off.
	const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
	try {
		const stats = await file.stat();
		if (stats.isDirectory()) throw new UsageError(`@${path} is a folder. Name a file.`);
		const chunks: Buffer[] = [];
		for (let size = 0; size <= MOST_BYTES; ) {
			const chunk = await readChunk(file, signal);
			if (chunk.length === 0 && size === 0 && stats.isFIFO()) {
				throw new UsageError(`The pipe @${path} gave nothing: it is empty, or nobody writes to it.`);
			}
			if (chunk.length === 0) return Buffer.concat(chunks);
			chunks.push(chunk);
			size += chunk.length;
		}
		throw tooLarge(`@${path}`);
	} finally {
		await file.close();
	}
}

async function readChunk(file: FileHandle, signal: AbortSignal): Promise<Buffer> {
	for (;;) {
		signal.throwIfAborted();
		try {
			const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(STEP), 0, STEP, null);
			return buffer.subarray(0, bytesRead);
		} catch (error) {
			// The pipe has a writer who has not written yet.
			if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error;
		}
		await sleep(LOOK_MS, undefined, { signal }).catch(() => signal.throwIfAborted());
	}
}
