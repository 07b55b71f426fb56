import { findRuledBox } from "../../screen/box.ts";
import type { ScreenRules } from "../../screen/classify.ts";
import { lastBlock, type View } from "../../screen/view.ts";
import { belowHas, dialogHas, lastRows, menuOpen } from "../signs.ts";

/** A row that begins in column 0 with the spinner's glyph: work in progress, or the summary of a finished turn. */
const SPINNER = /^[·✢✳✶✻✽*] \S/;

/** How Claude Code draws itself; checked on screens of 2.1.332 and the July 2026 footers. */
export const claudeScreen: ScreenRules = {
	findBox: (rows) => findRuledBox(rows, { glyph: /^[❯!#]/, indent: 2, footerRows: 40 }),
	placeholders: [/^Press up to edit queued messages$/, /^Try "/],
	rules: [
		dialogHas("blocked", "dialog", /^\s*(?:Esc to cancel|Enter to (?:confirm|select|continue))\b/, 2),
		dialogHas("blocked", "dialog", /· Esc to (?:close|cancel|exit)\s*$/, 1),
		dialogHas("blocked", "trust", /^\s*❯ (?:\d+\. )?(?:Yes|No)\b/, 6),
		belowHas("busy", "footer-interrupt", /(?:^|· )\s*esc to interrupt/),
		{ word: "busy", name: "spinner", when: hasSpinner },
		menuOpen(/^ {2}[❯ ] [/@]\S+ {2,}\S/),
		{ word: "unknown", name: "draft-over-open-turn", when: hidesTurn },
	],
};

function hasSpinner(view: View): boolean {
	if (view.box === undefined) return false;
	const row = lastStatusRow(view.above);
	return row !== undefined && (/…(?:\s*\(|\s*$)/.test(row) || /· (?:retrying in|attempt \d)/.test(row));
}

/** The spinner's row, unless something other than its hanging hints stands between it and the composer. */
function lastStatusRow(above: readonly string[]): string | undefined {
	for (let index = above.length - 1; index >= 0; index--) {
		const row = above[index] ?? "";
		if (SPINNER.test(row)) return row;
		if (row.trim() !== "" && !/^ {2,}\S/.test(row)) return undefined;
	}
	return undefined;
}

/** A draft hides the footer's hint while a reply may still stream; an answer without its summary row is no proof. */
function hidesTurn(view: View): boolean {
	if (view.composer === undefined || view.composer.isEmpty) return false;
	if (lastRows(view, 3).some((row) => /\? for shortcuts/.test(row))) return false;
	return /^● /.test(lastBlock(view.above)[0] ?? "");
}
