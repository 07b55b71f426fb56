import { fstatSync } from "node:fs";
import { MOST_BYTES, tooLarge } from "./prompt-file.ts";

/** How long a silent pipe is waited for before a person is told, in milliseconds. */
const SILENCE_MS = 3_000;

/** Whether a descriptor is something that was piped in: a pipe, a socket or a file, not a terminal or nothing. */
export function isPiped(descriptor: number): boolean {
	try {
		const stats = fstatSync(descriptor);
		return stats.isFIFO() || stats.isFile() || stats.isSocket();
	} catch {
		// A closed descriptor brings nothing.
		return false;
	}
}

/** Reads a stream to its end, at most `MOST_BYTES`. Calls `onSilence` once if nothing comes for 3 s; rejects when `signal` aborts. */
export async function readPiped(
	stream: NodeJS.ReadableStream,
	onSilence: () => void,
	signal: AbortSignal,
	silenceMs = SILENCE_MS,
): Promise<Buffer> {
	const chunks: Buffer[] = [];
	let size = 0;
	let isSilent = true;
	// After a busy time the timer comes before what has long arrived; that gets its turn first.
	const timer = setTimeout(() => setImmediate(() => isSilent && onSilence()), silenceMs);
	try {
		await new Promise<void>((fulfil, reject) => {
			const stop = () => reject(signal.reason);
			signal.addEventListener("abort", stop, { once: true });
			if (signal.aborted) stop();
			stream.on("data", (chunk: Buffer | string) => {
				isSilent = false;
				const bytes = Buffer.from(chunk);
				chunks.push(bytes);
				size += bytes.length;
				if (size > MOST_BYTES) reject(tooLarge("The piped input"));
			});
			stream.on("end", fulfil);
			stream.on("error", reject);
		});
	} finally {
		isSilent = false;
		clearTimeout(timer);
		stream.pause();
	}
	return Buffer.concat(chunks);
}
