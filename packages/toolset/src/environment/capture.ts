import { decodeText } from "./decoder.ts";

/** Keeps the first and the last bytes of a stream, so that a flood costs bounded memory. */
export class HeadTail {
	readonly #limit: number;
	#head: Buffer[] = [];
	#headSize = 0;
	#tail: Buffer[] = [];
	#tailSize = 0;
	#dropped = 0;

	/** Keeps `limit` bytes of each end. */
	constructor(limit: number) {
		this.#limit = limit;
	}

	/** Adds a chunk, which is copied where only a part of it is kept. */
	push(chunk: Buffer): void {
		const room = this.#limit - this.#headSize;
		if (room > 0) {
			this.#head.push(chunk.length <= room ? chunk : Buffer.from(chunk.subarray(0, room)));
			this.#headSize += Math.min(chunk.length, room);
		}
		if (chunk.length <= room) return;
		const rest = room > 0 ? chunk.subarray(room) : chunk;
		this.#tail.push(rest);
		this.#tailSize += rest.length;
		while (this.#tailSize - this.#tail[0]!.length >= this.#limit) {
			const first = this.#tail.shift()!;
			this.#tailSize -= first.length;
			this.#dropped += first.length;
		}
	}

	/** The kept text; where bytes were dropped, a note between the two ends says how many. */
	text(): string {
		const tail = Buffer.concat(this.#tail);
		const excess = Math.max(0, tail.length - this.#limit);
		if (this.#dropped + excess === 0) return decodeText(Buffer.concat([...this.#head, tail]));
		const head = Buffer.concat(this.#head);
		let headEnd = head.length;
		while (headEnd > head.length - 3 && headEnd > 0 && isContinuation(head[headEnd - 1]!)) headEnd--;
		if (headEnd > 0 && head[headEnd - 1]! >= 0xc0) headEnd--;
		let tailStart = excess;
		while (tailStart < excess + 3 && tailStart < tail.length && isContinuation(tail[tailStart]!)) tailStart++;
		const omitted = this.#dropped + tailStart + (head.length - headEnd);
		return `${decodeText(head.subarray(0, headEnd))}\n[... ${omitted} bytes of output were not kept ...]\n${decodeText(tail.subarray(tailStart))}`;
	}
}

function isContinuation(byte: number): boolean {
	return byte >= 0x80 && byte < 0xc0;
}
