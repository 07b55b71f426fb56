import { canCompareLines, encodeRaw, lineViews, type RawText, rawMark, usesCrlf } from "./raw-text.ts";

/** What to replace by what. */
export interface Replacement {
	old: string;
	new: string;
	/** Every exact occurrence instead of the only one. */
	all: boolean;
}

/** The text after the edit, or why there is none. */
export type EditOutcome =
	| { kind: "done"; raw: RawText; count: number; fuzzy: boolean }
	| { kind: "not_found" }
	| { kind: "not_unique"; count: number; lines: number[] };

/** The text with LF only, and where each of its positions lies in the original. */
interface LineFeedView {
	text: RawText;
	toOriginal(position: number): number;
}

function viewLineFeeds(raw: RawText): LineFeedView {
	const removed: number[] = [];
	for (let at = raw.indexOf("\r\n"); at >= 0; at = raw.indexOf("\r\n", at + 2)) removed.push(at - removed.length);
	if (removed.length === 0) return { text: raw, toOriginal: (position) => position };
	return {
		text: raw.replaceAll("\r\n", "\n"),
		// A position at a line's end is the one before its CR.
		toOriginal: (position) => position + countBelow(removed, position),
	};
}

/** How many of the ascending `values` are below `limit`. */
function countBelow(values: number[], limit: number): number {
	let low = 0;
	let high = values.length;
	while (low < high) {
		const middle = (low + high) >> 1;
		if (values[middle]! < limit) low = middle + 1;
		else high = middle;
	}
	return low;
}

interface Region {
	start: number;
	end: number;
}

function findExact(text: RawText, wanted: RawText): Region[] {
	const found: Region[] = [];
	for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length)) {
		found.push({ start: at, end: at + wanted.length });
	}
	return found;
}

/** Regions of whole lines that agree with the wanted lines in the first forgiving view in which any do. */
function findFuzzy(text: RawText, wanted: RawText): Region[] {
	const endsWithLine = wanted.endsWith("\n");
	const wantedLines = (endsWithLine ? wanted.slice(0, -1) : wanted).split("\n");
	const bodyStart = text.startsWith(rawMark) ? rawMark.length : 0;
	const lines: { text: RawText; start: number }[] = [];
	let start = bodyStart;
	for (const line of text.slice(bodyStart).split("\n")) {
		lines.push({ text: line, start });
		start += line.length + 1;
	}
	for (const view of lineViews.slice(1)) {
		const wantedViews = wantedLines.map(view);
		if (wantedViews.every((line) => line === "")) continue;
		const views = lines.map((line) => view(line.text));
		const found: Region[] = [];
		for (let first = 0; first + wantedViews.length <= views.length; first++) {
			if (!wantedViews.every((line, index) => line === views[first + index])) continue;
			const last = lines[first + wantedViews.length - 1]!;
			const end = last.start + last.text.length;
			found.push({ start: lines[first]!.start, end: endsWithLine ? Math.min(end + 1, text.length) : end });
		}
		if (found.length > 0) return found;
	}
	return [];
}

function lineNumbers(text: RawText, regions: Region[]): number[] {
	return regions.map(({ start }) => text.slice(0, start).split("\n").length);
}

/**
 * Replaces text in a file's raw text. Exact occurrences are taken first; if there are none and one region of whole
 * lines agrees apart from white space or typographic characters, that one. In files with CRLF, LF on either side stands
 * for a line end. The new text is literal.
 */
export function editText(raw: RawText, replacement: Replacement): EditOutcome {
	const view = viewLineFeeds(raw);
	const hasCrlf = view.text !== raw;
	const prepare = (text: string) => encodeRaw(hasCrlf ? text.replaceAll("\r\n", "\n") : text);
	const wanted = prepare(replacement.old);
	const exact = findExact(view.text, wanted);
	const fuzzy = exact.length === 0 && !replacement.all;
	const regions = !fuzzy ? exact : canCompareLines(view.text) ? findFuzzy(view.text, wanted) : [];
	if (regions.length === 0) return { kind: "not_found" };
	if (regions.length > 1 && !replacement.all) {
		return { kind: "not_unique", count: regions.length, lines: lineNumbers(view.text, regions) };
	}
	const written = prepare(replacement.new);
	const fileIsCrlf = hasCrlf && usesCrlf(raw);
	let result = "";
	let done = 0;
	for (const region of regions) {
		const start = view.toOriginal(region.start);
		const end = view.toOriginal(region.end);
		const withCrlf = hasCrlf && (fileIsCrlf || raw.slice(start, end).includes("\r\n"));
		result += raw.slice(done, start) + (withCrlf ? written.replaceAll("\n", "\r\n") : written);
		done = end;
	}
	return { kind: "done", raw: result + raw.slice(done), count: regions.length, fuzzy };
}
