import { describe, expect, it } from "vitest";
import { findCli } from "../clis/index.ts";
import { classify, patternRules } from "./classify.ts";
import { countChips, countWrapped } from "./count.ts";
import { parseStyledRows } from "./style.ts";

const DIM = "\u001b[2m";
const OFF = "\u001b[0m";
const rule = "─".repeat(60);

function claude(...composer: string[]) {
	const rows = ["● done", "", rule, ...composer, rule, "  ? for shortcuts · ← for agents"];
	return classify(findCli("claude")!.screen!, { rows, isStyled: true }).composer;
}

describe("the composer on a screen", () => {
	it.each([
		["a bare prompt", "❯ ", true],
		["a dim placeholder", `❯ ${DIM}Try "fix the tests"${OFF}`, true],
		["a placeholder under the cursor", `❯ \u001b[7mT\u001b[0;2mry "fix"${OFF}`, true],
		["ordinary text", "❯ fix it", false],
		["text before a dim suggestion", `❯ fix ${DIM}the tests${OFF}`, false],
	])("with %s is empty: %s (T134)", (_what, row, isEmpty) => {
		expect(claude(row)?.isEmpty).toBe(isEmpty);
	});

	it("is not seen where a rule is missing (T134)", () => {
		const rows = ["● done", "", "❯ text", "- - - -", "  ? for shortcuts"];
		expect(classify(findCli("claude")!.screen!, { rows })).toMatchObject({ word: "unknown", composer: undefined });
	});

	it("is the lowest one when output above looks like another (T135)", () => {
		const rows = [rule, "❯ ", rule, "  ? for shortcuts", "", rule, "❯ pending", rule, "  ? for shortcuts"];
		expect(classify(findCli("claude")!.screen!, { rows }).composer?.lines).toEqual(["pending"]);
	});

	it("keeps the lines of a draft", () => {
		expect(claude("❯ one", "  two", "", "  four")?.lines).toEqual(["one", "two", "", "four"]);
	});

	it("of Codex is empty with any dim hint and holds a draft of several lines with a blank one", () => {
		const screen = findCli("codex")!.screen!;
		const footer = ["", "  model default · ~/project", "  ? for shortcuts"];
		const hint = { rows: [`› ${DIM}Another hint of the day${OFF}`, ...footer], isStyled: true, title: "codex" };
		expect(classify(screen, hint)).toMatchObject({ word: "ready", composer: { isEmpty: true } });
		const draft = { rows: ["› one", "", "  three", ...footer], isStyled: true, title: "codex" };
		expect(classify(screen, draft).composer?.lines).toEqual(["one", "", "three"]);
	});
});

describe("a busy sign", () => {
	const screen = findCli("codex")!.screen!;
	const footer = ["", "› ", "", "  model default · ~/project"];

	it("counts above a long tail of the queue and in the second footer of a background terminal (T125, R11)", () => {
		const queue = [
			"• Working (3s • esc to interrupt)",
			"",
			"• Queued follow-up inputs",
			...Array(12).fill("  ↳ later"),
		];
		expect(classify(screen, { rows: [...queue, ...footer], title: "codex" }).word).toBe("busy");
		const terminal = ["• Waiting for background terminal (58s · esc to interrupt)"];
		expect(classify(screen, { rows: [...terminal, ...footer], title: "codex" }).word).toBe("busy");
	});

	it("of an earlier turn above an empty prompt does not count (R09)", () => {
		const rows = [
			"• Working (3s • esc to interrupt)",
			"",
			"› next",
			"",
			"• answer",
			"",
			"  Worked for 2s • 10:00",
			...footer,
		];
		expect(classify(screen, { rows, title: "codex" }).word).toBe("ready");
	});

	it("is tested before the prompt by patterns, and a miss of both is no word (T124)", () => {
		const rules = patternRules(/^›/m, /esc to interrupt/);
		expect(classify(rules, { rows: ["(9s · esc to interrupt)", "› "] }).word).toBe("busy");
		expect(classify(rules, { rows: ["› "] }).word).toBe("ready");
		expect(classify(rules, { rows: ["starting"] })).toMatchObject({ word: "unknown", rule: "no-pattern" });
	});

	it("does not matter on a dead pane or a blank screen", () => {
		expect(classify(screen, { rows: ["• Working (3s • esc to interrupt)", ...footer], isDead: true }).word).toBe(
			"dead",
		);
		expect(classify(screen, { rows: ["", "  "] })).toMatchObject({ word: "unknown", rule: "blank" });
	});
});

describe("counting text on a screen", () => {
	it("reads across wrapped rows and borders", () => {
		expect(countWrapped("│ hel │\n│ lo │ │wor ││\nld", "hello world")).toBe(1);
		expect(countWrapped("one one\none", "one")).toBe(3);
	});

	it("does not match when the punctuation differs (T82)", () => {
		expect(countWrapped("hello-world", "hello_world")).toBe(0);
	});

	it("refuses a text without a visible character", () => {
		expect(() => countWrapped("x", " │ ")).toThrow(RangeError);
	});

	it("knows the folded pastes of all CLIs", () => {
		const chips = [
			...["[Pasted text #1]", "[Pasted text #2 +11 lines]", "[Pasted Content 5123 chars]", "[Pasted Text: 12 lines]"],
			...["[Pasted Text: 5123 chars]", "[Pasted ~3 lines]", "[paste #1 5123 chars]", "[paste #2 +12 lines]"],
		];
		expect(countChips(chips.join(" "))).toBe(chips.length);
		expect(countChips("[Pasted something else]")).toBe(0);
	});
});

describe("styled rows", () => {
	it("carry attributes from row to row and ignore colours with the same numbers", () => {
		const [first, second] = parseStyledRows([`a${DIM}b`, `c\u001b[22md\u001b[38;5;2me\u001b[48;2;7;2;7mf`]);
		expect([first?.text, first?.dim]).toEqual(["ab", [false, true]]);
		expect([second?.text, second?.dim, second?.reversed]).toEqual([
			"cdef",
			[true, false, false, false],
			[false, false, false, false],
		]);
	});
});
