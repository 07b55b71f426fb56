import { expect, it } from "vitest";
import { readBundle, readOutcome, text } from "./messages.ts";

it("A text keeps line feeds, tabs and every printable character, and nothing that a terminal would obey", () => {
	expect(text("a\tb\nc\r\né\u2028\u0085")).toBe("a\tb\nc\r\né\u2028\u0085");
	expect(text("\x1b[31m\0\x07\x9b2J\x7f\ud800")).toBe("\ufffd[31m\ufffd\ufffd\ufffd2J\ufffd\ufffd");
	expect(text(5)).toBe("");
});

it("The end of a cell is read whatever its fields are", () => {
	const message = {
		status: "dead",
		stdout: 7,
		stderr: "e\x1b",
		result: ["r"],
		dropped: "many",
		error: { name: "E\0", traceback: 5 },
	};
	expect(readOutcome(message, [])).toEqual({
		status: "error",
		stdout: "",
		stderr: "e\ufffd",
		displays: [],
		error: { name: "E\ufffd", value: "", traceback: [] },
		droppedBytes: 0,
	});
});

it("A display is a table of texts and values by type, or nothing", () => {
	expect(readBundle({ "text/plain": "a\x1bb", "x/y": { n: 1 } })).toEqual({
		"text/plain": "a\ufffdb",
		"x/y": { n: 1 },
	});
	for (const wrong of [null, [], "text", 5]) expect(readBundle(wrong)).toBeUndefined();
});
