import { fstatSync, readSync } from "node:fs";

const NEWLINE = 0x0a;
/** Bytes that are read at once. */
const BLOCK = 256 * 1024;

/** What the last line of a file needs before anything may follow it. */
export type Mend = { readonly torn: Buffer } | "newline";

/** Where the usable bytes of a session file end, and what is behind them. */
export interface Tail {
	readonly size: number;
	readonly mend?: Mend;
}

/** Looks at the end of a file whose last write may have been cut. */
export function readTail(fd: number): Tail {
	const { size } = fstatSync(fd);
	const end = findLastNewline(fd, size) + 1;
	if (end === size) return { size };
	const torn = Buffer.alloc(size - end);
	readSync(fd, torn, 0, torn.length, end);
	// A last line without its newline may still be whole: the write was cut just before the last byte.
	return isWholeLine(torn) ? { size, mend: "newline" } : { size: end, mend: { torn } };
}

/** Offset of the last byte 0x0A, -1 when there is none. */
function findLastNewline(fd: number, size: number): number {
	for (let end = size; end > 0; ) {
		const start = Math.max(0, end - BLOCK);
		const block = Buffer.allocUnsafe(end - start);
		readSync(fd, block, 0, block.length, start);
		const at = block.lastIndexOf(NEWLINE);
		if (at >= 0) return start + at;
		end = start;
	}
	return -1;
}

function isWholeLine(bytes: Buffer): boolean {
	try {
		const value: unknown = JSON.parse(bytes.toString("utf8"));
		return typeof value === "object" && value !== null;
	} catch {
		return false;
	}
}
