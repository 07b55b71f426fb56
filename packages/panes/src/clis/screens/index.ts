import type { ScreenRules } from "../../screen/classify.ts";
import { claudeScreen } from "./claude.ts";
import { codexScreen } from "./codex.ts";
import { copilotScreen } from "./copilot.ts";
import { geminiScreen } from "./gemini.ts";
import { kimiScreen } from "./kimi.ts";
import { opencodeScreen } from "./opencode.ts";
import { piScreen } from "./pi.ts";
import { qwenScreen } from "./qwen.ts";

/** Screen rules by agent CLI; agy is absent because no screen of it was ever recorded. */
export const SCREENS: Readonly<Record<string, ScreenRules>> = {
	claude: claudeScreen,
	codex: codexScreen,
	copilot: copilotScreen,
	gemini: geminiScreen,
	kimi: kimiScreen,
	opencode: opencodeScreen,
	pi: piScreen,
	qwen: qwenScreen,
};
