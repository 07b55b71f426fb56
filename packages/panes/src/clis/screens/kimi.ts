import { findRoundBox } from "../../screen/box.ts";
import type { ScreenRules } from "../../screen/classify.ts";
import type { View } from "../../screen/view.ts";
import { dialogHas } from "../signs.ts";

/** How Kimi Code draws itself; checked on screens of 2.1.0 (its approval panel was not recorded). */
export const kimiScreen: ScreenRules = {
	findBox: (rows) => findRoundBox(rows, /^\s*│ > ?/),
	placeholders: [],
	rules: [
		dialogHas("blocked", "dialog", /↵ confirm\b/),
		dialogHas("blocked", "dialog", /^\s*↑↓ navigate · Enter select\b/),
		{ word: "busy", name: "spinner", when: hasSpinner },
		{ word: "blocked", name: "no-model", when: hasNoModel },
		{ word: "dead", name: "cursor-left", when: isAbandoned },
	],
};

/** The spinner stands between the transcript and the composer; queued messages may stand below it. */
function hasSpinner(view: View): boolean {
	if (view.box === undefined) return false;
	for (let index = view.above.length - 1; index >= 0; index--) {
		const row = view.above[index] ?? "";
		if (/^ {0,3}(?:[\u2800-\u28ff] \S|[🌑🌒🌓🌔🌕🌖🌗🌘])/u.test(row)) return true;
		if (/^ [✨●]/u.test(row)) return false;
	}
	return false;
}

/** Without a login the footer begins with the folder instead of the model, and a prompt would be lost. */
function hasNoModel(view: View): boolean {
	return view.box !== undefined && /^ (?:…|~|\/)/.test(view.below[0] ?? "");
}

/** After `/exit` the last screen stays while the process ends, but the composer's cursor is gone. */
function isAbandoned(view: View): boolean {
	if (view.box === undefined || view.composer === undefined) return false;
	if (view.cursor !== undefined) return view.cursor.y > view.box.bottom;
	if (!view.isStyled) return false;
	return !view.rows.slice(view.box.start, view.box.end + 1).some((row) => row.reversed.includes(true));
}
