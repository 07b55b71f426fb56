import { expect, test } from "vitest";
import type { CellResult } from "../../session/ports.ts";
import { MAX_OUTPUT, renderCell } from "./output.ts";

const CELL: CellResult = {
	status: "ok",
	stdout: "",
	stderr: "",
	displays: [],
	durationMs: 1,
	kernelRestarted: false,
	droppedBytes: 0,
};

const textOf = (cell: Partial<CellResult>) => (renderCell({ ...CELL, ...cell })[0] as { text: string }).text;

test("output, rich output and the value come in the order of a notebook", () => {
	const cell = { stdout: "a", stderr: "b\n", displays: [{ "text/plain": "c", "text/html": "<c>" }], result: "d" };
	expect(textOf(cell)).toBe("a\n[stderr]\nb\nc\nd\n");
});

test("a cell without any output says so", () => {
	expect(textOf({})).toBe("[no output]");
});

test("an error shows its traceback after what was printed before it", () => {
	const error = { name: "ValueError", value: "no", traceback: ["Traceback:", "ValueError: no"] };
	expect(textOf({ status: "error", stdout: "before\n", error })).toBe("before\nTraceback:\nValueError: no\n");
});

test.each([
	["interrupted", "was interrupted"],
	["timeout", "time limit"],
	["dead", "gets a new kernel and says which variables it has"],
] as const)("a cell that ended as %s tells the model what that means", (status, words) => {
	expect(textOf({ status })).toContain(words);
});

test("what the kernel says about the end of a cell is what the model reads", () => {
	const error = { name: "KeyboardInterrupt", value: "It did not stop, so the kernel was ended.", traceback: [] };
	expect(textOf({ status: "interrupted", error })).toBe("[It did not stop, so the kernel was ended.]\n");
});

test("the first cell in a new kernel says that the variables are gone", () => {
	expect(textOf({ kernelRestarted: true, stdout: "x" })).toMatch(/^\[The kernel had ended.*gone\.\]\nx\n$/);
});

test("a picture reaches the model as an image beside the text", () => {
	const cell = { ...CELL, displays: [{ "image/png": "iVBO\nRw0=", "text/plain": "<Figure>" }] };
	expect(renderCell(cell)).toEqual([
		{ type: "text", text: "[image]" },
		{ type: "image", mimeType: "image/png", data: "iVBORw0=" },
	]);
});

test("200 KB of output are cut in the middle and the cut is counted (K11)", () => {
	const text = textOf({ stdout: "x".repeat(200_000) });
	expect(text.length).toBeLessThan(MAX_OUTPUT + 100);
	const missing = Number(/… (\d+) characters cut …/.exec(text)?.[1]);
	expect(text.replaceAll(/[^x]/g, "").length + missing).toBeGreaterThanOrEqual(200_000);
});

test("the mark of a kernel that kept the whole output in a file stays, also beside other output", () => {
	const mark = "\n[... 9,000,000 bytes left out; the whole output is in /home/user/output-1.txt ...]\n";
	const flood = `first ${"a".repeat(32_000)}${mark}${"b".repeat(32_000)} last\n`;
	const text = textOf({ stdout: flood, stderr: "e".repeat(50_000), result: "'x'" });
	expect(text.length).toBeLessThan(MAX_OUTPUT + 200);
	expect(text).toMatch(
		/^first a+\n\[\.\.\. 9,000,000 bytes left out; the whole output is in \/home\/user\/output-1\.txt \.\.\.\]\n/,
	);
	expect(text).toMatch(
		/\]\n\[… and 5\d{4} characters around it …\]\nb+ last\n\[stderr\]\ne+\n\[… \d+ characters cut …\]\ne+\n'x'\n$/,
	);
});

test("dropped bytes are said", () => {
	expect(textOf({ stdout: "x", droppedBytes: 7 })).toContain("[7 bytes of output were dropped]");
});
