/** The text of a declaration file as tokens: names, quoted texts, numbers and punctuation, without comments. */
export function readTokens(text: string): string[] {
	const pattern =
		/\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`[^`]*`|[A-Za-z_$#][\w$]*|\d[\w.]*|=>|\.\.\.|\S/g;
	return (text.match(pattern) ?? []).filter((token) => !token.startsWith("//") && !token.startsWith("/*"));
}

/** Walks over tokens. */
export class TokenReader {
	readonly #tokens: readonly string[];
	#at = 0;

	constructor(tokens: readonly string[]) {
		this.#tokens = tokens;
	}

	/** The token `ahead` places on; the empty text after the last one. */
	peek(ahead = 0): string {
		return this.#tokens[this.#at + ahead] ?? "";
	}

	/** The next token, which is then passed. */
	next(): string {
		this.#at += 1;
		return this.#tokens[this.#at - 1] ?? "";
	}

	/** Passes the next token if it is this one. */
	take(token: string): boolean {
		if (this.peek() !== token) return false;
		this.#at += 1;
		return true;
	}

	/** True after the last token. */
	isAtEnd(): boolean {
		return this.#at >= this.#tokens.length;
	}

	/** Passes tokens up to and including the first of `ends` outside of brackets, or up to a closing bracket. */
	skipPast(...ends: readonly string[]): void {
		let depth = 0;
		while (!this.isAtEnd()) {
			const token = this.peek();
			if (depth === 0 && "})]".includes(token)) return;
			this.#at += 1;
			if (depth === 0 && ends.includes(token)) return;
			if ("{([".includes(token)) depth += 1;
			if ("})]".includes(token)) depth -= 1;
			if (depth === 0 && token === "}" && ends.includes("}")) return;
		}
	}
}
