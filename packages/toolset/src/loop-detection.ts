import { createHash } from "node:crypto";

/** JSON with sorted keys, so that equal arguments look equal. */
function canonicalJson(value: unknown): string {
	if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
	if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
	const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
	return `{${entries.map(([key, one]) => `${JSON.stringify(key)}:${canonicalJson(one)}`).join(",")}}`;
}

const longestPattern = 3;

/** Notices that an agent makes the same one, two or three calls over and over. */
export class LoopDetector {
	readonly #window: number;
	#signatures: string[] = [];
	#sinceWarning = Number.POSITIVE_INFINITY;

	/** Looks at the last `window` calls. */
	constructor(window: number) {
		this.#window = window;
	}

	/** Takes the next call. */
	add(name: string, args: unknown): void {
		const hash = createHash("sha256").update(canonicalJson(args)).digest("base64");
		this.#signatures = [...this.#signatures, `${name} ${hash}`].slice(-this.#window);
		this.#sinceWarning++;
	}

	/** The length of the repeating pattern; at most once per `window` calls. */
	findPattern(): number | undefined {
		if (this.#signatures.length < this.#window || this.#sinceWarning < this.#window) return undefined;
		for (let length = 1; length <= longestPattern; length++) {
			const calls = this.#signatures.slice(-Math.floor(this.#window / length) * length);
			if (calls.length < 2 * length || !calls.every((call, index) => call === calls[index % length])) continue;
			this.#sinceWarning = 0;
			return length;
		}
		return undefined;
	}
}
