import { findRuledBox } from "../../screen/box.ts";
import type { ScreenRules } from "../../screen/classify.ts";
import { belowHas, dialogHas, menuOpen } from "../signs.ts";

/** How GitHub Copilot CLI draws itself; checked on screens of 1.0.102. */
export const copilotScreen: ScreenRules = {
	findBox: (rows) => findRuledBox(rows, { glyph: /^❯/, indent: 2, footerRows: 14 }),
	placeholders: [],
	rules: [
		dialogHas("blocked", "dialog", /^\s*│?\s*(?:↑\/↓ to navigate · )?enter to select\b.*esc to cancel/i, 3),
		belowHas("busy", "footer-working", /^\s*[◎○◉●] Working\b/),
		menuOpen(/^\s*[❯▸ ] ?[/@]\S+ {2,}\S/),
	],
};
