import { isUtf8 } from "node:buffer";

/** Bytes of the sequence that `lead` opens; 0 if it opens none. */
function sequenceLength(lead: number): number {
	if (lead < 0x80) return 1;
	if (lead >= 0xc2 && lead < 0xe0) return 2;
	if (lead >= 0xe0 && lead < 0xf0) return 3;
	if (lead >= 0xf0 && lead < 0xf5) return 4;
	return 0;
}

/** Where an unfinished character at the end starts; the length if the end is whole. */
function unfinishedStart(bytes: Buffer): number {
	for (let back = 1; back <= Math.min(3, bytes.length); back++) {
		const byte = bytes[bytes.length - back]!;
		if (byte < 0x80) return bytes.length;
		if (byte >= 0xc0) return sequenceLength(byte) > back ? bytes.length - back : bytes.length;
	}
	return bytes.length;
}

/** Whether `second` may follow `lead`: some lead bytes would open a character that could be written shorter, or none. */
function canFollow(lead: number, second: number): boolean {
	if (lead === 0xe0) return second >= 0xa0;
	if (lead === 0xed) return second < 0xa0;
	if (lead === 0xf0) return second >= 0x90;
	return lead !== 0xf4 || second < 0x90;
}

/** Bytes of the valid character at `at`; 0 if none is there. */
function characterLength(bytes: Uint8Array, at: number): number {
	const lead = bytes[at]!;
	if (lead < 0x80) return 1;
	const length = sequenceLength(lead);
	if (length === 0 || at + length > bytes.length || !canFollow(lead, bytes[at + 1]!)) return 0;
	for (let next = at + 1; next < at + length; next++) if ((bytes[next]! & 0xc0) !== 0x80) return 0;
	return length;
}

const hexDigits = Buffer.from("0123456789abcdef");

/** The bytes with four signs in the place of each that is no part of a valid character. */
function escapeInvalid(bytes: Buffer): Buffer {
	let invalid = 0;
	for (let at = 0; at < bytes.length; ) {
		const length = characterLength(bytes, at);
		if (length === 0) invalid++;
		at += length || 1;
	}
	const escaped = Buffer.allocUnsafe(bytes.length + 3 * invalid);
	let to = 0;
	for (let at = 0; at < bytes.length; ) {
		const length = characterLength(bytes, at);
		if (length === 0) {
			escaped[to++] = 0x5c;
			escaped[to++] = 0x78;
			escaped[to++] = hexDigits[bytes[at]! >> 4]!;
			escaped[to++] = hexDigits[bytes[at]! & 15]!;
			at++;
		}
		for (let left = length; left > 0; left--) escaped[to++] = bytes[at++]!;
	}
	return escaped;
}

/** Text of bytes that should be UTF-8; each byte that is not part of a valid character is shown as `\xNN`. */
export function decodeText(bytes: Uint8Array): string {
	const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
	return (isUtf8(buffer) ? buffer : escapeInvalid(buffer)).toString("utf8");
}

/** Decodes chunks like `decodeText` without breaking characters that span two chunks. */
export class TextStream {
	#rest: Buffer = Buffer.alloc(0);

	/** The text that `chunk` completes. */
	push(chunk: Uint8Array): string {
		const bytes = this.#rest.length > 0 ? Buffer.concat([this.#rest, chunk]) : Buffer.from(chunk);
		const end = unfinishedStart(bytes);
		this.#rest = bytes.subarray(end);
		return decodeText(bytes.subarray(0, end));
	}

	/** What is left when no more chunks come. */
	end(): string {
		const rest = this.#rest;
		this.#rest = Buffer.alloc(0);
		return decodeText(rest);
	}
}
