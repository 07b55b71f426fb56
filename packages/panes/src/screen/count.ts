/** Blanks, box drawing and block elements: what a narrow or bordered composer puts between the letters of a text. */
const FRAME = /[\s\u2500-\u257f\u2580-\u259f\u200b\ufeff]+/gu;

/** Text as it is compared on screens: without blanks and frames, so that wrapping and borders do not matter. */
export function squeeze(text: string): string {
	return text.replace(FRAME, "");
}

/**
 * How often a text stands on a screen, across wrapped rows and borders. Throws `RangeError` for a text without a
 * visible character, because it would stand everywhere.
 */
export function countWrapped(screen: string, text: string): number {
	const needle = squeeze(text);
	if (needle === "") throw new RangeError("the text to look for has no visible character");
	return countOccurrences(squeeze(screen), needle);
}

/** How often a non-empty word occurs in a text, without overlaps. */
export function countOccurrences(text: string, word: string): number {
	return text.split(word).length - 1;
}

/** What a pasted text looks like when a CLI folds it into a placeholder: the chips of all known CLIs. */
const CHIP =
	/\[(?:Pasted text #\d+(?: \+\d+ lines)?|Pasted Content \d+ chars|Pasted Text: \d+ (?:chars|lines)|Pasted ~\d+ lines|paste #\d+ (?:\d+ chars|\+\d+ lines))\]/g;

/** How many folded pastes a screen shows. */
export function countChips(screen: string): number {
	return screen.match(CHIP)?.length ?? 0;
}
