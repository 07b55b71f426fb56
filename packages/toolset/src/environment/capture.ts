import { decodeText } from "./decoder.ts";

/** The first bytes of a stream, in one buffer however small the chunks are. */
class Head {
	readonly #limit: number;
	#bytes = Buffer.alloc(0);
	#size = 0;

	constructor(limit: number) {
		this.#limit = limit;
	}

	/** Takes what there is room for and gives back the rest. */
	push(chunk: Buffer): Buffer {
		const taken = Math.min(chunk.length, this.#limit - this.#size);
		if (taken > 0) {
			this.#makeRoom(this.#size + taken);
			chunk.copy(this.#bytes, this.#size, 0, taken);
			this.#size += taken;
		}
		return chunk.subarray(taken);
	}

	content(): Buffer {
		return this.#bytes.subarray(0, this.#size);
	}

	#makeRoom(size: number): void {
		if (size <= this.#bytes.length) return;
		const larger = Buffer.allocUnsafe(Math.min(this.#limit, Math.max(size, 2 * this.#bytes.length)));
		this.#bytes.copy(larger, 0, 0, this.#size);
		this.#bytes = larger;
	}
}

/** The last bytes of a stream, in a ring. */
class Tail {
	readonly #limit: number;
	#ring: Buffer | undefined;
	#total = 0;

	constructor(limit: number) {
		this.#limit = limit;
	}

	push(chunk: Buffer): void {
		if (chunk.length === 0) return;
		this.#ring ??= Buffer.allocUnsafe(this.#limit);
		const kept = chunk.subarray(Math.max(0, chunk.length - this.#limit));
		const start = (this.#total + chunk.length - kept.length) % this.#limit;
		const before = Math.min(kept.length, this.#limit - start);
		kept.copy(this.#ring, start, 0, before);
		kept.copy(this.#ring, 0, before);
		this.#total += chunk.length;
	}

	/** How many bytes went through and are gone. */
	get dropped(): number {
		return Math.max(0, this.#total - this.#limit);
	}

	content(): Buffer {
		if (!this.#ring) return Buffer.alloc(0);
		if (this.dropped === 0) return this.#ring.subarray(0, this.#total);
		const start = this.#total % this.#limit;
		return Buffer.concat([this.#ring.subarray(start), this.#ring.subarray(0, start)]);
	}
}

/** Keeps the first and the last bytes of a stream, so that a flood costs bounded memory. */
export class HeadTail {
	readonly #head: Head;
	readonly #tail: Tail;

	/** Keeps `limit` bytes of each end. */
	constructor(limit: number) {
		this.#head = new Head(limit);
		this.#tail = new Tail(limit);
	}

	/** Adds a chunk, which is copied. */
	push(chunk: Buffer): void {
		this.#tail.push(this.#head.push(chunk));
	}

	/** The kept text; where bytes were dropped, a note between the two ends says how many. */
	text(): string {
		const head = this.#head.content();
		const tail = this.#tail.content();
		if (this.#tail.dropped === 0) return decodeText(Buffer.concat([head, tail]));
		const headEnd = findCharacterEnd(head);
		const tailStart = findCharacterStart(tail);
		const omitted = this.#tail.dropped + tailStart + (head.length - headEnd);
		const note = `\n[... ${omitted} bytes of output were not kept ...]\n`;
		return decodeText(head.subarray(0, headEnd)) + note + decodeText(tail.subarray(tailStart));
	}
}

function isContinuation(byte: number | undefined): boolean {
	return byte !== undefined && byte >= 0x80 && byte < 0xc0;
}

/** The end without a last character that may be cut. */
function findCharacterEnd(bytes: Buffer): number {
	let end = bytes.length;
	while (end > bytes.length - 3 && isContinuation(bytes[end - 1])) end--;
	return end > 0 && bytes[end - 1]! >= 0xc0 ? end - 1 : end;
}

/** The start without the rest of a character that is cut. */
function findCharacterStart(bytes: Buffer): number {
	let start = 0;
	while (start < 3 && isContinuation(bytes[start])) start++;
	return start;
}
