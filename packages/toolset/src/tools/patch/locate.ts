import { encodeRaw, lineViews, type RawText, readRaw } from "../raw-text.ts";
import type { PatchChunk } from "./parse.ts";

/** Where a chunk applies: `count` lines from `start` on are replaced. */
export interface ChunkPlace {
	start: number;
	count: number;
	/** Lines of the chunk's old and new side that were left out at their ends, because the file lacks an empty line. */
	dropped: { old: number; new: number };
}

/** Why a chunk applies nowhere. */
export type ChunkMiss = { missing: "hint"; hint: string } | { missing: "lines" };

/** Finds blocks of lines in one file, more and more forgiving; each view of the file is computed once. */
export class LineFinder {
	readonly #lines: RawText[];
	readonly #views: string[][] = [];

	constructor(lines: RawText[]) {
		this.#lines = lines;
	}

	/** The first position of `start..last` at which the block agrees, trying all positions before the next view. */
	find(block: string[], start: number, last = this.#lines.length - block.length): number | undefined {
		for (const [level, view] of lineViews.entries()) {
			const lines = this.#views[level] ?? this.#lines.map(view);
			this.#views[level] = lines;
			const wanted = block.map((line) => view(encodeRaw(line)));
			for (let at = start; at <= last; at++) {
				if (wanted.every((line, index) => line === lines[at + index])) return at;
			}
		}
		return undefined;
	}

	/** The only line from `start` on that contains `text`. */
	findContaining(text: string, start: number): number | undefined {
		const found: number[] = [];
		for (let at = start; at < this.#lines.length; at++) if (readRaw(this.#lines[at]!).includes(text)) found.push(at);
		return found.length === 1 ? found[0] : undefined;
	}

	get length(): number {
		return this.#lines.length;
	}
}

const nothingDropped = { old: 0, new: 0 };

/** The line of the last hint, each searched behind the one before. */
function findHints(finder: LineFinder, hints: string[], cursor: number): number | ChunkMiss {
	let line = cursor - 1;
	for (const hint of hints) {
		const found = finder.find([hint], line + 1) ?? finder.findContaining(hint.trim(), line + 1);
		if (found === undefined) return { missing: "hint", hint };
		line = found;
	}
	return line;
}

function findBlock(finder: LineFinder, block: string[], chunk: PatchChunk, cursor: number, hintLine?: number) {
	if (chunk.atEnd) {
		const end = finder.length - block.length;
		if (end >= cursor) {
			const found = finder.find(block, end, end);
			if (found !== undefined) return found;
		}
	}
	if (hintLine === undefined) return finder.find(block, cursor);
	// A patch may repeat the hint as its first line; usually the block begins behind the hint.
	if (finder.find([block[0]!], hintLine, hintLine) === hintLine) {
		const found = finder.find(block, hintLine, hintLine);
		if (found !== undefined) return found;
	}
	return finder.find(block, hintLine + 1);
}

/** The place of a chunk at or behind the line `cursor`. */
export function locateChunk(finder: LineFinder, chunk: PatchChunk, cursor: number): ChunkPlace | ChunkMiss {
	let hintLine: number | undefined;
	if (chunk.hints.length > 0) {
		const found = findHints(finder, chunk.hints, cursor);
		if (typeof found !== "number") return found;
		hintLine = found;
	}
	if (chunk.old.length === 0) {
		return { start: hintLine === undefined ? finder.length : hintLine + 1, count: 0, dropped: nothingDropped };
	}
	const start = findBlock(finder, chunk.old, chunk, cursor, hintLine);
	if (start !== undefined) return { start, count: chunk.old.length, dropped: nothingDropped };
	if (chunk.old.length > 1 && chunk.old.at(-1) === "") {
		const block = chunk.old.slice(0, -1);
		const shorter = findBlock(finder, block, chunk, cursor, hintLine);
		const dropped = { old: 1, new: chunk.new.at(-1)?.text === "" ? 1 : 0 };
		if (shorter !== undefined) return { start: shorter, count: block.length, dropped };
	}
	return { missing: "lines" };
}
