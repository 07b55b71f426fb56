import { expect, test } from "vitest";
import { HeadTail } from "./capture.ts";
import { decodeText, TextStream } from "./decoder.ts";

/** Deterministic numbers from 0 to below 1. */
function makeRandom(seed: number): () => number {
	return () => {
		seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
		return seed / 2_147_483_648;
	};
}

test.each([1, 7, 99, 100, 101, 200, 201, 999])("chunks of %s bytes keep the same two ends", (size) => {
	const all = Buffer.from(Array.from({ length: 1000 }, (_, index) => 32 + (index % 90)));
	const kept = new HeadTail(100);
	for (let at = 0; at < all.length; at += size) kept.push(all.subarray(at, at + size));
	const [head, tail] = [all.subarray(0, 100).toString(), all.subarray(-100).toString()];
	expect(kept.text()).toBe(`${head}\n[... 800 bytes of output were not kept ...]\n${tail}`);
});

test("what fits into both ends is kept whole", () => {
	for (const length of [0, 1, 100, 150, 200]) {
		const kept = new HeadTail(100);
		const text = "x".repeat(length);
		for (const sign of text) kept.push(Buffer.from(sign));
		expect(kept.text()).toBe(text);
	}
});

test("characters at the cuts are left out whole, wherever the cuts fall", () => {
	for (let limit = 5; limit < 20; limit++) {
		const kept = new HeadTail(limit);
		const all = Buffer.from("é漢😀x".repeat(20));
		kept.push(all);
		const text = kept.text();
		expect(text).not.toContain("\\x");
		const [, dropped] = /\[\.\.\. (\d+) bytes/.exec(text) ?? [];
		const shown = Buffer.byteLength(text.replace(/\n\[\.\.\..*\.\.\.\]\n/, ""));
		expect(shown + Number(dropped)).toBe(all.length);
	}
});

test("a text stream gives what the whole bytes give, wherever they are cut", () => {
	const random = makeRandom(7);
	for (let round = 0; round < 200; round++) {
		const bytes = Buffer.from(
			Array.from({ length: 40 }, () => Math.floor(random() * 256)).concat([...Buffer.from("é漢😀")]),
		);
		const stream = new TextStream();
		let text = "";
		for (let at = 0; at < bytes.length; ) {
			const size = 1 + Math.floor(random() * 5);
			text += stream.push(bytes.subarray(at, at + size));
			at += size;
		}
		expect(text + stream.end()).toBe(decodeText(bytes));
	}
});

test("bytes that are no characters are shown by their numbers", () => {
	expect(decodeText(Buffer.from("a\xff\xc3(\xe2\x82\xed\xa0\x80b", "latin1"))).toBe(
		"a\\xff\\xc3(\\xe2\\x82\\xed\\xa0\\x80b",
	);
});
