import { describe, expect, it } from "vitest";
import { listRecorded, readRecorded } from "../testing/recorded.ts";
import { findPending } from "./pending.ts";

describe("the question at the end of a screen", () => {
	it.each([
		["yes_no", ["Overwrite the file?", "Go on? [y/N] "], "Go on? [y/N]"],
		["yes_no", ["Continue (yes/no)?"], "Continue (yes/no)?"],
		["numbered_menu", ["Proceed?", " ❯ 1. Yes", "   2. No", "", " Enter to confirm"], "❯ 1. Yes"],
		["numbered_menu", ["│ ● 1. Trust │", "│   2. Leave │", "╰──╯"], "│ ● 1. Trust │"],
		["press_key", ["Done.", "Press any key to go on"], "Press any key to go on"],
		["colon_prompt", ["Sign in", "Password:"], "Password:"],
		["open_question", ["What is the name of the branch?", "", "❯ "], "What is the name of the branch?"],
		["none", ["1. a plan", "2. with steps", "and an end"], null],
		["none", ["❯ 1. a single point"], null],
		["none", ["", "  "], null],
	])("is %s for %j", (kind, rows, line) => {
		expect(findPending(rows)).toEqual({ kind, line });
	});

	it("is a menu on recorded approvals of several agent CLIs", () => {
		const approvals = listRecorded().filter((screen) => screen.name === "approval-prompt-120x40");
		const kinds = approvals.map((screen) => [screen.cli, findPending(readRecorded(screen, "txt").rows).kind]);
		expect(kinds).toContainEqual(["claude", "numbered_menu"]);
		expect(kinds).toContainEqual(["copilot", "numbered_menu"]);
	});
});
