import { expect, test } from "vitest";
import { LoopDetector } from "./loop-detection.ts";

function feed(detector: LoopDetector, calls: string): (number | undefined)[] {
	return [...calls].map((name) => {
		detector.add(name, { path: name });
		return detector.findPattern();
	});
}

test.each([
	["AAAAAAAAAA", 1],
	["ABABABABAB", 2],
	["XABCABCABC", 3],
])("the calls %s are a pattern of length %s", (calls, length) => {
	expect(feed(new LoopDetector(10), calls)).toEqual([...Array(9).fill(undefined), length]);
});

test.each(["AAAAAAAAA", "AAAAABAAAA", "ABCDABCDAB"])("the calls %s are no pattern", (calls) => {
	expect(feed(new LoopDetector(10), calls).every((found) => found === undefined)).toBe(true);
});

test("the order of keys in arguments does not matter, their values do", () => {
	const detector = new LoopDetector(4);
	for (let round = 0; round < 2; round++) {
		detector.add("a", { x: 1, y: [{ p: 1, q: 2 }] });
		detector.add("a", { y: [{ q: 2, p: 1 }], x: 1 });
	}
	expect(detector.findPattern()).toBe(1);
	const other = new LoopDetector(4);
	for (let value = 0; value < 4; value++) other.add("a", { x: value });
	expect(other.findPattern()).toBeUndefined();
});

test("after a warning the next comes after as many further calls as the window is long", () => {
	const found = feed(new LoopDetector(10), "A".repeat(25));
	expect(found.flatMap((one, index) => (one === undefined ? [] : [index]))).toEqual([9, 19]);
});
