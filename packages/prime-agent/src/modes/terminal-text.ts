/** Where the cleaner stands inside an escape sequence. */
type State = "text" | "escape" | "sequence" | "string" | "stringEscape";

/** Takes everything out of a stream of text that could steer a terminal; sequences may be split over chunks. */
export class TerminalCleaner {
	#state: State = "text";

	/** The harmless part of the next chunk. */
	clean(chunk: string): string {
		let kept = "";
		for (const character of chunk) {
			if (this.#step(character)) kept += character;
		}
		return kept;
	}

	/** Moves on by one character; true when it may be shown. */
	#step(character: string): boolean {
		// A sequence never runs past the end of its line, so that a cut one hides little.
		if (character === "\n") {
			this.#state = "text";
			return true;
		}
		switch (this.#state) {
			case "text":
				return this.#stepText(character);
			case "escape":
				this.#state = afterEscape(character);
				return false;
			case "sequence":
				if (character >= "@" && character <= "~") this.#state = "text";
				return false;
			case "string":
				if (character === "\u0007" || character === "\u009c") this.#state = "text";
				else if (character === "\u001b") this.#state = "stringEscape";
				return false;
			case "stringEscape":
				this.#state = character === "\\" ? "text" : "string";
				return false;
		}
	}

	#stepText(character: string): boolean {
		if (character === "\u001b") this.#state = "escape";
		else if (character === "\u009b") this.#state = "sequence";
		else if ("\u0090\u0098\u009d\u009e\u009f".includes(character)) this.#state = "string";
		return !isControl(character);
	}
}

/** Controls that a terminal must not get from a model: all but tab and newline, and those that turn text around. */
function isControl(character: string): boolean {
	const code = character.codePointAt(0)!;
	if (code < 0x20) return character !== "\t";
	return (code >= 0x7f && code <= 0x9f) || (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

function afterEscape(character: string): State {
	if (character === "[") return "sequence";
	if (/[\]PX^_]/.test(character)) return "string";
	// Escapes with an intermediate byte end one character later.
	return character >= " " && character <= "/" ? "escape" : "text";
}

/** The harmless part of a whole text. */
export function cleanForTerminal(text: string): string {
	return new TerminalCleaner().clean(text);
}
