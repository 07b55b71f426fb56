import { describe, expect, it } from "vitest";
import { classify } from "../../screen/classify.ts";
import type { ScreenCapture } from "../../screen/view.ts";
import { listRecorded, readRecorded } from "../../testing/recorded.ts";
import { findCli } from "../index.ts";

const screens = listRecorded().filter((screen) => screen.expected !== "any");

/** A small seeded generator, so that a failing variation can be repeated. */
function randomFrom(seed: number): (below: number) => number {
	let state = seed;
	return (below) => {
		state = (state * 1103515245 + 12345) % 2147483648;
		return Math.floor((state / 2147483648) * below);
	};
}

const WORDS = [
	"esc to interrupt",
	"Do you trust the files in this folder?",
	"Working (3s • esc to interrupt)",
	"? for shortcuts",
	"tab to queue message",
	"Press enter to confirm",
	"Enter to select",
	"ctrl+p commands",
	"✻ Sautéed for 10s · done",
	"△ Permission required",
	"Esc to cancel · Tab to amend",
	"enter to select · esc to cancel",
	"esc again to interrupt",
	"◎ Working",
	"⠋ Working...",
	"❯ 1. Yes",
	"› ask",
	"/ commands · ? help",
	"日本語の入力",
	"שלום 🙂",
	"x",
];

/** Replaces what people and models wrote: the words of the mock's prompts and replies. */
function varyText(capture: ScreenCapture, random: (below: number) => number): ScreenCapture {
	const word = () => WORDS[random(WORDS.length)]!;
	const vary = (row: string) =>
		row
			.replace(/\bw\d+( w\d+)*\b/g, () => word())
			.replace(/\bMOCKREPLY-\d+ all done\.?/g, () => word())
			.replace(/\b(?:hello|first|narrow|interrupt2?|int3?) (?:BUSY|SLOW)=\d+/g, () => word());
	return { ...capture, rows: capture.rows.map(vary) };
}

function varyNumbers(capture: ScreenCapture, random: (below: number) => number): ScreenCapture {
	const rows = capture.rows.map((row) =>
		row
			.replace(/\b\d+(?=s\b)/g, () => String(1 + random(99)))
			.replace(/(?<=[↑↓] ?)\d+(\.\d+)?/g, () => String(1 + random(9)))
			.replace(/\bmock-model\b|\bMock Model\b|\bOpus [\d.]+/g, () => `model-${random(9)}.${random(9)}`),
	);
	return { ...capture, rows };
}

/** Makes the screen higher or lower: rows of the transcript leave at the top, or blank rows come in below. */
function varyHeight(capture: ScreenCapture, random: (below: number) => number): ScreenCapture {
	const rows = [...capture.rows];
	if (random(2) === 0) rows.push(...Array<string>(1 + random(20)).fill(""));
	else {
		const filled = rows.findLastIndex((row) => row.trim() !== "") + 1;
		rows.splice(0, random(Math.max(1, filled - 18)));
	}
	return { ...capture, rows, cursor: undefined };
}

/** Makes full-width rules and boxes longer. */
function varyWidth(capture: ScreenCapture, random: (below: number) => number): ScreenCapture {
	const more = 1 + random(60);
	const rows = capture.rows.map((row) =>
		/^[^\S\n]*[│╭╰]?[─▀╹]{20,}/.test(row) ? row.replace(/([─▀])(?=\1)/, `$1${"$1".repeat(more)}`) : row,
	);
	return { ...capture, rows };
}

describe("the word for a screen", () => {
	it.each([
		["what people and models wrote", varyText],
		["numbers and model names", varyNumbers],
		["the height", varyHeight],
		["the width", varyWidth],
	] as const)("stays the same when %s changes", (_what, vary) => {
		const random = randomFrom(7);
		const changed: string[] = [];
		let varied = 0;
		for (const screen of screens) {
			const capture = readRecorded(screen, "txt");
			if (screen.name === "exiting-stale-screen") continue;
			for (let round = 0; round < 20; round++) {
				const variant = vary(capture, random);
				if (variant.rows.join("\n") !== capture.rows.join("\n")) varied += 1;
				const verdict = classify(findCli(screen.cli)!.screen!, variant);
				if (verdict.word !== screen.expected) {
					changed.push(`${screen.cli} ${screen.name}: ${verdict.word} (${verdict.rule})\n${variant.rows.join("\n")}`);
				}
			}
		}
		expect(varied).toBeGreaterThan(500);
		expect(changed.slice(0, 2)).toEqual([]);
	});

	it("is not taken from a draft that quotes the interface", () => {
		for (const screen of screens.filter((each) => /^(?:typed|composer-paste-multiline)/.test(each.name))) {
			const capture = readRecorded(screen, "txt");
			const rows = capture.rows.map((row) =>
				row.replace("hello BUSY", "esc to interrupt").replace("second line", "Esc to cancel"),
			);
			expect([screen.cli, classify(findCli(screen.cli)!.screen!, { ...capture, rows }).word]).toEqual([
				screen.cli,
				"ready",
			]);
		}
	});

	it("is unknown for Codex without a title while an answer has no end row", () => {
		const streaming = listRecorded().find(
			(screen) => screen.cli === "codex" && screen.name === "busy-streaming-120x40",
		)!;
		const { title: _title, ...capture } = readRecorded(streaming, "txt");
		expect(classify(findCli("codex")!.screen!, capture)).toMatchObject({ word: "unknown", rule: "no-title" });
	});

	it("is unknown for Claude while a draft hides the hint and the answer has no summary row", () => {
		const typed = listRecorded().find((screen) => screen.cli === "claude" && screen.name === "typed-120x40")!;
		const capture = readRecorded(typed, "txt");
		const at = capture.rows.findIndex((row) => row.startsWith("──"));
		const rows = [...capture.rows.slice(0, at), "● an answer that may still grow", "", ...capture.rows.slice(at)];
		expect(classify(findCli("claude")!.screen!, { ...capture, rows }).word).toBe("unknown");
	});
});
