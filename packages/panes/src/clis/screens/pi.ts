import { findRuledBox } from "../../screen/box.ts";
import type { ScreenRules } from "../../screen/classify.ts";
import { lastBlock } from "../../screen/view.ts";
import { belowHas } from "../signs.ts";

/** How pi draws itself; checked on screens of 0.73.1. It asks for no approvals. */
export const piScreen: ScreenRules = {
	findBox: (rows) => findRuledBox(rows, { indent: 0, footerRows: 14 }),
	placeholders: [],
	rules: [
		{
			word: "busy",
			name: "spinner",
			when: (view) =>
				view.box !== undefined && /^ ?[\u2800-\u28ff] \S.*(?:\.{3}|…)/.test(lastBlock(view.above).at(-1) ?? ""),
		},
		belowHas("blocked", "no-model", /^\s*(?:\S+ )*[\d.?]+%?\/0 \(auto\)/),
		belowHas("unknown", "command-menu", /^ {2}\(\d+\/\d+\)\s*$/),
		{
			word: "unknown",
			name: "no-footer",
			when: (view) => view.box !== undefined && !view.below.some((row) => /[\d.?]+%?\/\S+ \(auto\)/.test(row)),
		},
	],
};
