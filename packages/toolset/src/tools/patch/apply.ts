import { canCompareLines, encodeRaw, type RawText, rawMark, readRaw, usesCrlf } from "../raw-text.ts";
import { numberLines } from "../read.ts";
import { ToolFailure } from "../tool.ts";
import { type ChunkMiss, LineFinder, locateChunk } from "./locate.ts";
import type { PatchChunk } from "./parse.ts";

const shownCharacters = 9000;

/** The file with line numbers, so that the model can correct its patch without reading again. */
function showCurrent(lines: RawText[]): string {
	const text = numberLines(
		lines.map((line) => readRaw(line)),
		1,
	);
	if (text.length <= shownCharacters) return text;
	const half = shownCharacters / 2;
	return `${text.slice(0, half)}\n[...]\n${text.slice(-half)}`;
}

function explainMiss(path: string, chunk: PatchChunk, miss: ChunkMiss, lines: RawText[]): ToolFailure {
	const expected =
		miss.missing === "hint"
			? `the line after @@ was not found in ${path}: ${miss.hint}`
			: `these lines were not found in ${path}:\n${chunk.old.join("\n")}`;
	return new ToolFailure(
		`The patch does not fit; nothing was changed: ${expected}\n\nThe file now:\n${showCurrent(lines)}`,
	);
}

/**
 * A file's raw text after the chunks of an update. Lines that stay keep their bytes; the byte order mark, CRLF and a
 * final line end, present or missing, stay.
 *
 * Throws a `ToolFailure` with the expected lines and the file where a chunk does not fit.
 */
export function applyChunks(path: string, raw: RawText, chunks: PatchChunk[]): RawText {
	if (!canCompareLines(raw)) {
		throw new ToolFailure(
			`${path} has ${raw.length} bytes, too many to patch. Change it with the shell. Nothing was changed.`,
		);
	}
	const mark = raw.startsWith(rawMark) ? rawMark : "";
	const body = raw.slice(mark.length);
	const lineEnd = usesCrlf(body) ? "\r\n" : "\n";
	const endsWithLine = body === "" || body.endsWith("\n");
	const lines = body.split(lineEnd);
	if (endsWithLine) lines.pop();
	const finder = new LineFinder(lines);
	const changes: { start: number; count: number; lines: RawText[] }[] = [];
	let cursor = 0;
	for (const chunk of chunks) {
		const place = locateChunk(finder, chunk, cursor);
		if ("missing" in place) throw explainMiss(path, chunk, place, lines);
		const written = chunk.new.slice(0, chunk.new.length - place.dropped.new);
		changes.push({
			start: place.start,
			count: place.count,
			lines: written.map(({ text, context }) =>
				context !== undefined && context < place.count ? lines[place.start + context]! : encodeRaw(text),
			),
		});
		cursor = place.start + place.count;
	}
	for (const change of changes.reverse()) lines.splice(change.start, change.count, ...change.lines);
	if (lines.length === 0) return mark;
	return mark + lines.join(lineEnd) + (endsWithLine ? lineEnd : "");
}
