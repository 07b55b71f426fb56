const HALF = 32 * 1024;

/** Text of unknown length, kept as its head and its tail. */
export class HeadTail {
	#head = "";
	#tail = "";
	#leftOut = 0;

	/** Adds text at the end. */
	add(text: string): void {
		const room = HALF - this.#head.length;
		this.#head += text.slice(0, room);
		if (text.length <= room) return;
		this.#tail += text.slice(Math.max(0, room));
		if (this.#tail.length <= 2 * HALF) return;
		this.#leftOut += this.#tail.length - HALF;
		this.#tail = this.#tail.slice(-HALF);
	}

	/** The text, with a note where some is missing. */
	toString(): string {
		const gap = this.#leftOut > 0 ? `\n[... ${this.#leftOut} characters left out ...]\n` : "";
		return this.#head + gap + this.#tail;
	}
}
