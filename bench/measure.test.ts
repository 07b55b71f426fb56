import { describe, expect, it } from "vitest";
import { findMedian, measure, runProgram, weighProgram } from "./measure.ts";

const program = (script: string) => ({ file: process.execPath, args: ["-e", script] });

describe("measure", () => {
	it("takes floor and subject in turn and leaves the first pair out", async () => {
		const order: string[] = [];
		const sampler = (name: string, values: number[]) => async () => {
			order.push(name);
			return values.shift() ?? Number.NaN;
		};
		const figure = { name: "f", unit: "ms" as const, floorName: "floor" };
		const floor = sampler("floor", [900, 10, 30, 20]);
		const result = await measure({ ...figure, floor, subject: sampler("subject", [900, 40, 20, 30]) }, 3);
		expect(result).toEqual({ subject: 30, floor: 20, ratio: 1.5, best: 2, count: 3 });
		expect(order).toEqual(["floor", "subject", "floor", "subject", "floor", "subject", "floor", "subject"]);
	});

	it("findMedian gives the middle value, or the mean of the two middle ones", () => {
		expect(findMedian([9, 1, 5])).toBe(5);
		expect(findMedian([9, 1, 5, 7])).toBe(6);
	});
});

describe("weighProgram", () => {
	it("sees the memory that a program held for a moment", async () => {
		const floor = await weighProgram(program("0"));
		const subject = await weighProgram(program("let x = Buffer.alloc(100 << 20, 1); x = undefined"));
		expect(floor).toBeGreaterThan(10);
		expect(subject - floor).toBeGreaterThan(90);
	});
});

describe("runProgram", () => {
	it("rejects with the program's words when it fails", async () => {
		await expect(runProgram(program("console.error('why'); process.exit(3)"))).rejects.toThrow(/ended with 3: why/);
	});
});
