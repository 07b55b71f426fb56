import { findPromptBox } from "../../screen/box.ts";
import type { ScreenRules } from "../../screen/classify.ts";
import { lastBlock, type View } from "../../screen/view.ts";
import { belowHas, lastRows, menuOpen, titleIs } from "../signs.ts";

const INTERRUPT = /\((?:\d+[hms] ?)+ ?[•·] esc to interrupt\)/;

/** How Codex draws itself; checked on screens of 0.171.0 and the July 2026 footers. */
export const codexScreen: ScreenRules = {
	findBox: (rows) => findPromptBox(rows, /^›(?: |$)/, 2),
	placeholders: [/^Ask Codex to do anything$/],
	rules: [
		{
			word: "blocked",
			name: "dialog",
			when: (view) => lastRows(view, 1).some((row) => /^\s*Press enter to (?:confirm|continue|select)/i.test(row)),
		},
		titleIs("blocked", "title-action", /^\[ [.!] \] Action Required/),
		titleIs("busy", "title-spinner", /^[\u2800-\u28ff] /),
		belowHas("busy", "footer-queue", /^\s*tab to queue message\b/),
		{ word: "busy", name: "status-row", when: hasStatusRow },
		menuOpen(/^[› ] \/\S+ {2,}\S/),
		{ word: "unknown", name: "no-title", when: mayStream },
	],
};

/** The working row, with nothing but the queue and hints between it and the composer. */
function hasStatusRow(view: View): boolean {
	if (view.box === undefined) return false;
	for (let index = view.above.length - 1; index >= 0; index--) {
		const row = view.above[index] ?? "";
		if (/^(?:[•◦] )?\S/.test(row) && INTERRUPT.test(row)) return true;
		const isQueue = /^• Queued\b/.test(row);
		if (row.trim() !== "" && !isQueue && !(/^ {2}/.test(row) && !/^ {2}Worked for/.test(row))) return false;
	}
	return false;
}

/** While text streams only the title moves, so an answer without its end row is no proof when no title was given. */
function mayStream(view: View): boolean {
	return view.title === undefined && view.box !== undefined && /^[•◦] /.test(lastBlock(view.above)[0] ?? "");
}
