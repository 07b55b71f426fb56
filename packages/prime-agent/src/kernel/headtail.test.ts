import { describe, expect, it } from "vitest";
import { HeadTail } from "./headtail.ts";

describe("a text kept as head and tail", () => {
	it("is whole while it is small", () => {
		const text = new HeadTail();
		for (const piece of ["a", "", "b".repeat(40_000), "c"]) text.add(piece);
		expect(String(text)).toBe(`a${"b".repeat(40_000)}c`);
	});

	it("keeps its start and its end and counts the rest", () => {
		const text = new HeadTail();
		for (let i = 0; i < 1000; i += 1) text.add(`${i}`.padEnd(1000, "."));
		const kept = String(text);
		expect(kept).toMatch(/^0\.+[\s\S]*999\.+$/);
		const leftOut = Number(/(\d+) characters left out/.exec(kept)?.[1]);
		expect(kept.length - `\n[... ${leftOut} characters left out ...]\n`.length + leftOut).toBe(1_000_000);
		expect(kept.length).toBeLessThan(100_000);
	});
});
