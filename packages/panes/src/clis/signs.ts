import type { ScreenRule, ScreenWord } from "../screen/classify.ts";
import { lastBlock, type View } from "../screen/view.ts";

/** The pane's title matches. */
export function titleIs(word: ScreenWord, name: string, pattern: RegExp): ScreenRule {
	return { word, name, when: (view) => view.title !== undefined && pattern.test(view.title) };
}

/** A row below the composer matches. */
export function belowHas(word: ScreenWord, name: string, pattern: RegExp): ScreenRule {
	return { word, name, when: (view) => view.below.some((row) => pattern.test(row)) };
}

/** A row of the last block above the composer matches. */
export function lastBlockHas(word: ScreenWord, name: string, pattern: RegExp): ScreenRule {
	return { word, name, when: (view) => lastBlock(view.above).some((row) => pattern.test(row)) };
}

/** No composer is drawn and one of the last rows matches: a dialog has taken its place. */
export function dialogHas(word: ScreenWord, name: string, pattern: RegExp, depth = 14): ScreenRule {
	return {
		word,
		name,
		when: (view) => view.box === undefined && lastRows(view, depth).some((row) => pattern.test(row)),
	};
}

/** A list of commands lies on or under a composer that begins with a slash. */
export function menuOpen(pattern: RegExp): ScreenRule {
	return {
		word: "unknown",
		name: "command-menu",
		when: (view) =>
			view.composer !== undefined &&
			/^[/@]/.test(view.composer.lines.join("").trim()) &&
			[...view.below, ...lastBlock(view.above)].some((row) => pattern.test(row)),
	};
}

/** The last rows of a screen that are not blank, frames included. */
export function lastRows(view: View, count: number): string[] {
	return view.rows
		.map((row) => row.text)
		.filter((row) => row.trim() !== "")
		.slice(-count);
}
