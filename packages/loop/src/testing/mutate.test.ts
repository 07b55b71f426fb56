import { expect, test } from "vitest";
import { mutateChunks } from "./mutate.ts";

const chunks = ["data: one\n\n", "data: two\n\n", "data: three\n\n"].map((text) => new TextEncoder().encode(text));
const join = (parts: readonly Uint8Array[]) => Buffer.concat(parts).toString();
const all = Array.from({ length: 200 }, (_, seed) => mutateChunks(chunks, seed));

test("the same seed does the same damage", () => {
	expect(all.map((_, seed) => mutateChunks(chunks, seed))).toEqual(all);
});

test("every kind of damage occurs, splitting alone too, and is told", () => {
	const kinds = new Set(all.flatMap(({ damage }) => damage.map((words) => words.split(" ")[0])));
	expect(kinds).toEqual(new Set(["cut", "doubled", "lost", "moved"]));
	expect(all.some((mutation) => mutation.damage.length === 0 && mutation.chunks.length > chunks.length)).toBe(true);
});

test("without damage the bytes are the same", () => {
	const intact = all.filter(({ damage }) => damage.length === 0);
	expect(intact.length).toBeGreaterThan(20);
	expect(new Set(intact.map((mutation) => join(mutation.chunks)))).toEqual(new Set([join(chunks)]));
});
