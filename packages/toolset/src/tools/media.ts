const signatures: [mediaType: string, test: (bytes: Buffer) => boolean][] = [
	["image/png", (bytes) => bytes.subarray(0, 8).equals(Buffer.from("\x89PNG\r\n\x1a\n", "latin1"))],
	["image/jpeg", (bytes) => bytes[0] === 0xff && bytes[1] === 0xd8 && bytes[2] === 0xff],
	["image/gif", (bytes) => /^GIF8[79]a/.test(bytes.toString("latin1", 0, 6))],
	["image/webp", (bytes) => bytes.toString("latin1", 0, 4) === "RIFF" && bytes.toString("latin1", 8, 12) === "WEBP"],
];

/** The media type of an image that models take, by its first bytes; `undefined` for everything else. */
export function findImageType(bytes: Uint8Array): string | undefined {
	const start = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, 16));
	return signatures.find(([, test]) => test(start))?.[0];
}

const binaryTypes: [start: string, name: string][] = [
	["%PDF-", "PDF document"],
	["PK\x03\x04", "ZIP archive"],
	["\x1f\x8b", "gzip archive"],
	["\x7fELF", "ELF program"],
	["SQLite format 3\0", "SQLite database"],
];

/** What kind of file these bytes seem to be, in words; `binary file` where nothing fits. */
export function nameBinaryType(bytes: Uint8Array): string {
	const start = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, 16)).toString("latin1");
	return binaryTypes.find(([magic]) => start.startsWith(magic))?.[1] ?? "binary file";
}

const sniffedBytes = 8 * 1024;

/** Whether the bytes are no text: a zero byte near the start, or more than a third of the start is no UTF-8. */
export function isBinary(bytes: Uint8Array): boolean {
	const start = bytes.subarray(0, sniffedBytes);
	if (start.includes(0)) return true;
	const text = Buffer.from(start.buffer, start.byteOffset, start.byteLength).toString("utf8");
	const broken = text.split("\ufffd").length - 1;
	return broken > start.length / 3;
}
