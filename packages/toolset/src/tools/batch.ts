/** Collects pieces of text and hands them on together, so that a flood of small pieces stays few messages. */
export class TextBatch {
	readonly #intervalMs: number;
	readonly #send: (text: string) => void;
	#pieces: string[] = [];
	#timer: NodeJS.Timeout | undefined;

	/** Sends at most once per interval, and the first piece at once. */
	constructor(intervalMs: number, send: (text: string) => void) {
		this.#intervalMs = intervalMs;
		this.#send = send;
	}

	/** Adds a piece. */
	push(text: string): void {
		this.#pieces.push(text);
		if (this.#timer) return;
		this.#flush();
		this.#timer = setTimeout(() => {
			this.#timer = undefined;
			this.#flush();
		}, this.#intervalMs);
	}

	/** Sends what is left; nothing may be added afterwards. */
	end(): void {
		clearTimeout(this.#timer);
		this.#flush();
	}

	#flush(): void {
		if (this.#pieces.length === 0) return;
		const text = this.#pieces.join("");
		this.#pieces = [];
		this.#send(text);
	}
}
