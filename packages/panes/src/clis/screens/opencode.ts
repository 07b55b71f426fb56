import { findBarBox } from "../../screen/box.ts";
import type { ScreenRules } from "../../screen/classify.ts";
import { belowHas, dialogHas, menuOpen } from "../signs.ts";

/** How OpenCode draws itself; checked on screens of 1.18.33. */
export const opencodeScreen: ScreenRules = {
	findBox: findBarBox,
	placeholders: [/^Ask anything…/],
	rules: [
		belowHas("busy", "footer-interrupt", /^\s*[⬝■]+\s+esc (?:again to )?interrupt\b/),
		belowHas("busy", "footer-interrupt", /^\s*esc (?:again to )?interrupt\b/),
		dialogHas("blocked", "permission", /^\s*┃?\s*△ Permission required\b/),
		menuOpen(/^\s*┃ [/@]\S+ +.*┃\s*$/),
		{
			word: "unknown",
			name: "no-footer",
			when: (view) => view.box !== undefined && !view.below.some((row) => /ctrl\+p commands/.test(row)),
		},
	],
};
