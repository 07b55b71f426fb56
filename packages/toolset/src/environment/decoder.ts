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

/** Text of bytes that should be UTF-8; each byte that is not part of a valid character is shown as `\xNN`. */
export function decodeText(bytes: Uint8Array): string {
	const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
	if (isUtf8(buffer)) return buffer.toString("utf8");
	let text = "";
	let start = 0;
	let at = 0;
	while (at < buffer.length) {
		const length = sequenceLength(buffer[at]!);
		if (length > 0 && at + length <= buffer.length && isUtf8(buffer.subarray(at, at + length))) {
			at += length;
			continue;
		}
		text += `${buffer.toString("utf8", start, at)}\\x${buffer[at]!.toString(16).padStart(2, "0")}`;
		at += 1;
		start = at;
	}
	return text + buffer.toString("utf8", start);
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
