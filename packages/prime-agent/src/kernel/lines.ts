/** No message of a kernel is as long as this; a longer line is no message. */
const MAX_LINE_BYTES = 16 * 1024 * 1024;

/** Splits a byte stream into the JSON values of its lines; calls `onBroken` once when it is none. */
export class JsonLines {
	readonly #onValue: (value: Record<string, unknown>) => void;
	readonly #onBroken: (reason: string) => void;
	#pieces: Buffer[] = [];
	#size = 0;
	#broken = false;

	constructor(onValue: (value: Record<string, unknown>) => void, onBroken: (reason: string) => void) {
		this.#onValue = onValue;
		this.#onBroken = onBroken;
	}

	/** Takes in the next bytes. */
	push(data: Buffer): void {
		let start = 0;
		while (!this.#broken) {
			const end = data.indexOf(0x0a, start);
			if (end < 0) break;
			this.#pieces.push(data.subarray(start, end));
			this.#emit(Buffer.concat(this.#pieces));
			this.#pieces = [];
			this.#size = 0;
			start = end + 1;
		}
		if (this.#broken || start >= data.length) return;
		this.#pieces.push(data.subarray(start));
		this.#size += data.length - start;
		if (this.#size > MAX_LINE_BYTES) this.#fail("a message longer than 16 MB");
	}

	#emit(line: Buffer): void {
		const value = parseObject(line.toString("utf8"));
		if (value) this.#onValue(value);
		else this.#fail("a line that is no JSON object");
	}

	#fail(reason: string): void {
		this.#broken = true;
		this.#pieces = [];
		this.#onBroken(reason);
	}
}

function parseObject(text: string): Record<string, unknown> | undefined {
	try {
		const value: unknown = JSON.parse(text);
		return typeof value === "object" && value !== null && !Array.isArray(value)
			? (value as Record<string, unknown>)
			: undefined;
	} catch {
		return undefined;
	}
}
