import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { TextBatch } from "./batch.ts";

beforeEach(() => {
	vi.useFakeTimers();
});
afterEach(() => {
	vi.useRealTimers();
});

test("the first piece goes out at once and those after it once per interval", () => {
	const sent: string[] = [];
	const batch = new TextBatch(100, (text) => sent.push(text));
	for (const piece of ["a", "b", "c"]) batch.push(piece);
	expect(sent).toEqual(["a"]);
	vi.advanceTimersByTime(100);
	expect(sent).toEqual(["a", "bc"]);
});

test("the end sends what is left and nothing comes later", () => {
	const sent: string[] = [];
	const batch = new TextBatch(100, (text) => sent.push(text));
	batch.push("a");
	batch.push("b");
	batch.end();
	vi.advanceTimersByTime(1000);
	expect(sent).toEqual(["a", "b"]);
});

test("a piece after a quiet time goes out at once again", () => {
	const sent: string[] = [];
	const batch = new TextBatch(100, (text) => sent.push(text));
	batch.push("a");
	vi.advanceTimersByTime(500);
	batch.push("b");
	expect(sent).toEqual(["a", "b"]);
});
