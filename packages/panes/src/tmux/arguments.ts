/** Longest text that one `send-keys -l` takes: tmux 3.3a accepts 16,300 bytes and refuses 16,400. */
const LITERAL_LIMIT_BYTES = 16_000;

/**
 * Protects a literal argument of tmux: its command parser takes a final `;` for a separator, even after `--`,
 * unless a backslash stands before it.
 */
export function escapeLiteral(text: string): string {
	return text.endsWith(";") ? `${text.slice(0, -1)}\\;` : text;
}

/** Splits text at code points into pieces that `send-keys -l` accepts. */
export function splitLiteral(text: string, limitBytes = LITERAL_LIMIT_BYTES): string[] {
	const pieces: string[] = [];
	let piece = "";
	let size = 0;
	for (const char of text) {
		const bytes = Buffer.byteLength(char);
		if (size + bytes > limitBytes) {
			pieces.push(piece);
			piece = "";
			size = 0;
		}
		piece += char;
		size += bytes;
	}
	if (piece !== "") pieces.push(piece);
	return pieces;
}

/** Quotes one word for a POSIX shell; words of safe characters stay as they are. */
export function quoteWord(word: string): string {
	return /^[A-Za-z0-9._:/@+=,-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/**
 * Makes text safe for a bracketed paste: CRLF and CR become LF, other control characters except TAB are dropped,
 * because an embedded ESC could end the paste and turn the rest into keystrokes.
 */
export function cleanPaste(text: string): string {
	const lines = text.replace(/\r\n?/g, "\n");
	let clean = "";
	for (const char of lines) {
		const code = char.codePointAt(0) ?? 0;
		const isControl = code < 0x20 || (code >= 0x7f && code <= 0x9f);
		if (!isControl || char === "\n" || char === "\t") clean += char;
	}
	return clean;
}
