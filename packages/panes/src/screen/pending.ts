/** What kind of answer the end of a screen asks for. */
export type PendingKind = "yes_no" | "numbered_menu" | "colon_prompt" | "open_question" | "press_key" | "none";

/** The kind of a pending question and the row that shows it. */
export interface Pending {
	readonly kind: PendingKind;
	readonly line: string | null;
}

const DEPTH = 16;
const FRAME = /^[\s─━│┃╭╮╰╯┌┐└┘>❯›]*$/u;
const CHOICE = /^\s*(?:[│┃]\s*)?(?<cursor>[❯›>●▶*]\s*)?(?<number>\d{1,2})[.)]\s+\S/u;

/**
 * Guesses from its last rows which answer a screen waits for, for a caller that must choose one. A guess about content,
 * so it decides nothing: whether an agent waits at all is what `classify` says.
 */
export function findPending(rows: readonly string[]): Pending {
	const last = rows.filter((row) => !FRAME.test(row)).slice(-DEPTH);
	const choice = findChoice(last);
	if (choice !== undefined) return { kind: "numbered_menu", line: choice.trim() };
	for (const row of last.slice(-3).reverse()) {
		const line = row.replace(/^[\s│┃]+|[\s│┃]+$/gu, "");
		if (/[[(]\s*y(?:es)?\s*\/\s*n(?:o)?\s*[\])]/i.test(line)) return { kind: "yes_no", line };
		if (/\bpress (?:enter|return|esc(?:ape)?|space|any key)\b/i.test(line)) return { kind: "press_key", line };
	}
	const line = (last.at(-1) ?? "").replace(/^[\s│┃]+|[\s│┃]+$/gu, "");
	if (/^\S.{0,78}:$/u.test(line)) return { kind: "colon_prompt", line };
	if (/\?$/.test(line)) return { kind: "open_question", line };
	return { kind: "none", line: null };
}

/** The row under the cursor of a menu: at least two choices numbered in sequence, one of them marked. */
function findChoice(rows: readonly string[]): string | undefined {
	const choices = rows.flatMap((row) => {
		const groups = CHOICE.exec(row)?.groups;
		return groups === undefined ? [] : [{ row, number: Number(groups.number), isMarked: groups.cursor !== undefined }];
	});
	const isMenu = choices.some((each, index) => choices[index + 1]?.number === each.number + 1);
	return isMenu ? choices.find((each) => each.isMarked)?.row : undefined;
}
