/**
 * Files are edited as raw text: a string with one character per byte. So every byte that an edit does not touch stays
 * as it is, whatever its encoding.
 */
export type RawText = string;

/** The bytes as raw text. */
export function toRaw(bytes: Uint8Array): RawText {
	return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
}

/** The bytes of raw text. */
export function toBytes(raw: RawText): Uint8Array {
	return Buffer.from(raw, "latin1");
}

/** The raw form of text that the model wrote. */
export function encodeRaw(text: string): RawText {
	return Buffer.from(text, "utf8").toString("latin1");
}

/** Raw text as characters; bytes that are no UTF-8 become replacement characters. */
export function readRaw(raw: RawText): string {
	return Buffer.from(raw, "latin1").toString("utf8");
}

/** Larger files are changed by exact pieces of text only: to compare their lines would take too much memory. */
const mostCompared = 16 * 1024 * 1024;

/** Whether the lines of the text may be compared one by one. */
export function canCompareLines(raw: RawText): boolean {
	return raw.length <= mostCompared;
}

/** A byte order mark in raw form. */
export const rawMark: RawText = "\u00ef\u00bb\u00bf";

/** Whether every line of the text ends with CRLF and there is at least one. */
export function usesCrlf(raw: RawText): boolean {
	let seen = false;
	for (let at = raw.indexOf("\n"); at >= 0; at = raw.indexOf("\n", at + 1)) {
		if (raw[at - 1] !== "\r") return false;
		seen = true;
	}
	return seen;
}

function mapPunctuation(text: string): string {
	return text
		.replace(/[\u2010-\u2015\u2212]/g, "-")
		.replace(/[\u2018-\u201b]/g, "'")
		.replace(/[\u201c-\u201f]/g, '"')
		.replace(/[\u00a0\u2002-\u200a\u202f\u205f\u3000]/g, " ");
}

/** Ways to compare lines, from exact to forgiving; two lines agree when their images are equal. */
export const lineViews: readonly ((line: RawText) => string)[] = [
	(line) => line,
	(line) => readRaw(line).trimEnd(),
	(line) => readRaw(line).trim(),
	(line) => mapPunctuation(readRaw(line)).trim(),
];
