import type { Box } from "./view.ts";

const RULE = /^[─━]{8,}\s*$/;

/** Finds the lowest composer between two full rules, whose first row begins with one of the glyphs. */
export function findRuledBox(
	rows: readonly string[],
	options: { glyph?: RegExp; indent: number; footerRows: number; firstRow?: RegExp },
): Box | undefined {
	const bottom = rows.findLastIndex((row) => RULE.test(row));
	if (bottom < 1) return undefined;
	let top = bottom - 1;
	while (top >= 0 && !RULE.test(rows[top] ?? "")) top--;
	if (top < 0 || bottom - top < 2) return undefined;
	if (options.glyph !== undefined && !options.glyph.test(rows[top + 1] ?? "")) return undefined;
	const footer = rows.slice(bottom + 1).filter((row) => row.trim() !== "").length;
	if (footer > options.footerRows) return undefined;
	return { top, start: top + 1, end: bottom - 1, bottom, indent: options.indent };
}

/**
 * Finds the lowest row that begins with a prompt glyph and is followed only by indented rows and, after a blank row,
 * by a short footer. A message of the transcript is never followed by a footer alone, so it is not taken.
 */
export function findPromptBox(rows: readonly string[], glyph: RegExp, indent: number, from = 0): Box | undefined {
	const start = rows.findLastIndex((row, index) => index >= from && glyph.test(row));
	if (start < 0) return undefined;
	let footer = rows.length;
	while (footer - 1 > start && rows[footer - 1]?.trim() !== "") footer--;
	// Without a blank row the last block is the composer itself.
	let end = footer - 1 > start ? footer - 1 : rows.length - 1;
	while (end > start && rows[end]?.trim() === "") end--;
	if (rows.length - footer > MAX_FOOTER_ROWS && footer - 1 > start) return undefined;
	const rest = rows.slice(start + 1).filter((row) => row.trim() !== "");
	if (!rest.every((row) => row.startsWith(" "))) return undefined;
	return { top: start, start, end, bottom: end, indent };
}

const MAX_FOOTER_ROWS = 4;

/** Finds a composer whose left side is a heavy bar and whose lower edge is drawn with half blocks. */
export function findBarBox(rows: readonly string[]): Box | undefined {
	const bottom = rows.findLastIndex((row) => /^\s*╹▀{4,}/.test(row));
	if (bottom < 3) return undefined;
	let top = bottom;
	// A row closed by a second bar belongs to a menu that lies on the composer.
	while (top > 0 && /^\s*┃(?!.*┃\s*$)/.test(rows[top - 1] ?? "")) top--;
	const indent = (rows[bottom]?.indexOf("╹") ?? 0) + 3;
	// The row above the edge names the agent and the model.
	return bottom - top < 3 ? undefined : { top, start: top, end: bottom - 2, bottom, indent };
}

/** Finds the lowest box of round corners whose first inner row begins with a prompt glyph. */
export function findRoundBox(rows: readonly string[], glyph: RegExp): Box | undefined {
	const bottom = rows.findLastIndex((row) => /^\s*╰─+╯\s*$/.test(row));
	if (bottom < 0) return undefined;
	let top = bottom - 1;
	while (top >= 0 && !/^\s*╭─+╮\s*$/.test(rows[top] ?? "")) top--;
	const first = rows[top + 1];
	if (top < 0 || first === undefined || !glyph.test(first)) return undefined;
	const indent = glyph.exec(first)?.[0].length ?? 0;
	return { top, start: top + 1, end: bottom - 1, bottom, indent, tail: /[│┃]\s*$/ };
}
