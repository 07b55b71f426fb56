import { findRuledBox } from "../../screen/box.ts";
import type { ScreenRules } from "../../screen/classify.ts";
import { belowHas, dialogHas, lastBlockHas, menuOpen, titleIs } from "../signs.ts";

/** How Qwen Code draws itself; checked on screens of 0.24.4 in auto mode (its approvals were not recorded). */
export const qwenScreen: ScreenRules = {
	findBox: (rows) => findRuledBox(rows, { glyph: /^[>!*]/, indent: 2, footerRows: 14 }),
	placeholders: [/^Type your message or @path\/to\/file$/],
	rules: [
		dialogHas("blocked", "dialog", /^\s*│?\s*[●›❯] \d+\. /),
		titleIs("busy", "title-working", /^◐/),
		belowHas("busy", "footer-steer", /^\s*Enter to steer\b/),
		lastBlockHas("busy", "status-row", /^ {2}.*\(\d+[hms].* · esc to cancel\)\s*$/),
		menuOpen(/^ \S+ {3,}\S/),
	],
};
