import { findPromptBox } from "../../screen/box.ts";
import type { ScreenRules } from "../../screen/classify.ts";
import type { Box } from "../../screen/view.ts";
import { dialogHas, lastBlockHas, menuOpen, titleIs } from "../signs.ts";

/** How Gemini CLI draws itself; checked on screens of 0.61.0. */
export const geminiScreen: ScreenRules = {
	findBox,
	placeholders: [/^Type your message or @path\/to\/file$/],
	rules: [
		titleIs("blocked", "title-action", /^✋/),
		dialogHas("blocked", "dialog-choice", /^\s*│\s+● \d+\. /),
		dialogHas("blocked", "dialog-entry", /^\s*│ +\((?:Use Enter|Press Enter)\b/),
		titleIs("busy", "title-working", /^✦/),
		lastBlockHas("busy", "status-row", /^ [\u2800-\u28ff] .*\(esc to cancel, [\dhms ]+\)/),
		// The footer begins with the folder, a choice with a name.
		menuOpen(/^ [^\s/~]\S* {3,}\S/),
	],
};

/** The composer stands below the last full rule, after an optional hint row. */
function findBox(rows: readonly string[]): Box | undefined {
	const rule = rows.findLastIndex((row) => /^─{8,}\s*$/.test(row));
	if (rule < 0) return undefined;
	const start = rows.findIndex((row, index) => index > rule && /^ [>!*] /.test(`${row} `));
	if (start < 0 || start > rule + 4) return undefined;
	const box = findPromptBox(rows.slice(0), /^ [>!*](?: |$)/, 3, rule);
	if (box !== undefined) return { ...box, top: rule, start };
	// A menu below the composer divides it from the footer.
	return { top: rule, start, end: start, bottom: start, indent: 3 };
}
