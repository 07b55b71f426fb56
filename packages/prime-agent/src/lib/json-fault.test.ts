import { expect, it } from "vitest";
import { findJsonFault } from "./json-fault.ts";

it.each([
	["", 1, 1],
	["{", 1, 2],
	["{ broken", 1, 3],
	['{"a": 1,}', 1, 9],
	['{"a": 1 "b": 2}', 1, 9],
	['{\n\t"a": [1, 2,],\n}', 2, 13],
	['{\n  "a": tru\n}', 2, 8],
	['{"a": 01}', 1, 7],
	['{"a": "x\ny"}', 1, 7],
	['{"a": "\\q"}', 1, 7],
	['{"a": 1} x', 1, 10],
	["{'a': 1}", 1, 2],
	['// no\n{"a": 1}', 1, 1],
	['["a": 1]', 1, 5],
	['{"a"}', 1, 5],
	['{"a": 1]', 1, 8],
	["[,]", 1, 2],
	['{"ä": "ö", }', 1, 12],
])("finds that %j stops being JSON in line %i, column %i", (text, line, column) => {
	expect(() => JSON.parse(text)).toThrow();
	expect(findJsonFault(text)).toEqual({ line, column });
});

it.each(['{"\u007f": 1}', '{"a": [1, -2.5e+3, true, null, "\\u00e4\\n", {}, []]}', "[]", ' "x" ', "[[[0]]]"])(
	"goes through the whole of the sound text %j",
	(text) => {
		expect(JSON.parse(text)).toBeDefined();
		expect(findJsonFault(text)).toEqual({ line: 1, column: text.length + 1 });
	},
);
