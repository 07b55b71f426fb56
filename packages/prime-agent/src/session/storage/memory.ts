import type { SessionStore } from "../storage.ts";

/** A store that keeps nothing on disk. */
export function createMemoryStore(): SessionStore {
	return new MemoryStore();
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

	readText(offset: number, length: number): string {
		return this.#bytes.toString("utf8", offset, offset + length);
	}

	sync(): Promise<void> {
		return Promise.resolve();
	}

	close(): void {
		this.#bytes = Buffer.alloc(0);
	}
}
