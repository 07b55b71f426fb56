import { expect, test } from "vitest";
import { findOutputLimit, truncateOutput } from "./truncation.ts";

const cut = (tool: string, text: string) => truncateOutput(text, findOutputLimit(tool));

test("text under the limit stays as it is", () => {
	for (const text of ["", "x", "x".repeat(50_000)]) expect(cut("read_file", text)).toBe(text);
});

test("both ends are kept around a marker that counts what was removed", () => {
	const text = cut("read_file", `${"a".repeat(50_000)}${"b".repeat(50_000)}`);
	const [head, marker, tail] = text.split("\n\n");
	expect(head).toBe("a".repeat(25_000));
	expect(tail).toBe("b".repeat(25_000));
	expect(marker).toMatch(/^\[WARNING: Tool output was truncated\. 50000 characters were removed from the middle\./);
	expect(marker).toContain("event stream");
	expect(marker).toContain("narrower parameters");
});

test("the end is kept behind a marker where the end matters", () => {
	const text = cut("glob", `${"a".repeat(10_000)}${"b".repeat(20_000)}`);
	expect(text).toMatch(/^\[WARNING: Tool output was truncated\. First 10000 characters were removed\./);
	expect(text.endsWith(`\n\n${"b".repeat(20_000)}`)).toBe(true);
});

test("lines are cut in the middle after the characters", () => {
	const lines = Array.from({ length: 1000 }, (_, index) => String(index));
	expect(cut("shell", lines.join("\n")).split("\n")).toEqual([
		...lines.slice(0, 128),
		"[... 744 lines omitted ...]",
		...lines.slice(-128),
	]);
});

test("two enormous lines are cut by their characters", () => {
	const text = cut("shell", `${"x".repeat(10_000_000)}\n${"y".repeat(10_000_000)}`);
	expect(text.length).toBeLessThan(31_000);
	expect(text).toContain("characters were removed");
});

test("the marker survives when the lines around it are cut too", () => {
	const text = cut("shell", Array.from({ length: 1000 }, () => "z".repeat(39)).join("\n"));
	const lines = text.split("\n");
	const at = lines.findIndex((line) => line.startsWith("[WARNING: Tool output was truncated."));
	expect(at).toBeGreaterThan(0);
	expect(lines[at - 1]).toMatch(/^\[\.\.\. \d+ lines omitted \.\.\.\]$/);
});

test("a limit of characters and of lines can be set for each tool", () => {
	const limit = findOutputLimit("grep", { characters: { grep: 4 }, lines: { grep: 7 } });
	expect(limit).toEqual({ characters: 4, keep: "tail", lines: 7 });
	expect(truncateOutput("abcdef", limit)).toMatch(/\n\ncdef$/);
});

test("a tool without a limit of its own keeps 30,000 characters", () => {
	const text = cut("something_else", "x".repeat(100_000));
	expect(text).toContain("70000 characters were removed from the middle");
});

test("a character of two units is never split", () => {
	for (let length = 1; length < 12; length++) {
		const text = truncateOutput("😀".repeat(50), { characters: length, keep: "head_tail" });
		const tail = truncateOutput("😀".repeat(50), { characters: length, keep: "tail" });
		expect(text.isWellFormed() && tail.isWellFormed()).toBe(true);
	}
});
