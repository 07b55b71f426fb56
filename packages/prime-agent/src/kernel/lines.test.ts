import { describe, expect, it } from "vitest";
import { JsonLines } from "./lines.ts";

function read(pieces: readonly Buffer[]): { values: unknown[]; broken: string[] } {
	const values: unknown[] = [];
	const broken: string[] = [];
	const lines = new JsonLines(
		(value) => values.push(value),
		(reason) => broken.push(reason),
	);
	for (const piece of pieces) lines.push(piece);
	return { values, broken };
}

describe("JSON lines of a kernel", () => {
	it("give the same values wherever the bytes are split", () => {
		const bytes = Buffer.from('{"a":"é😀"}\n{"b":[1]}\n');
		for (let cut = 0; cut <= bytes.length; cut += 1) {
			expect(read([bytes.subarray(0, cut), bytes.subarray(cut)])).toEqual({
				values: [{ a: "é😀" }, { b: [1] }],
				broken: [],
			});
		}
	});

	it("keep an unfinished line to themselves", () => {
		expect(read([Buffer.from('{"a":1}')])).toEqual({ values: [], broken: [] });
	});

	it.each(["no json\n", "[1]\n", "null\n", "\n"])(
		"are broken once and for all by a line that is no object (%j)",
		(line) => {
			expect(read([Buffer.from(line), Buffer.from('{"a":1}\n')])).toEqual({
				values: [],
				broken: ["a line that is no JSON object"],
			});
		},
	);

	it("are broken by an endless line before it fills the memory", () => {
		const piece = Buffer.alloc(4 * 1024 * 1024, "x");
		expect(read([piece, piece, piece, piece, piece])).toEqual({ values: [], broken: ["a message longer than 16 MB"] });
	});
});
