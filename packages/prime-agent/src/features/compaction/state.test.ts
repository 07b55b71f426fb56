import { expect, test } from "vitest";
import { readLimits, readOverflowPatterns } from "./state.ts";

const limits = (settings: Readonly<Record<string, unknown>>, window: number) =>
	readLimits((path) => settings[path], window);

test("without settings, a large window keeps 16,384 tokens free and the newest 20,000 as they are", () => {
	expect(limits({}, 200_000)).toEqual({
		enabled: true,
		agentCallable: true,
		threshold: 183_616,
		reserve: 16_384,
		keepRecent: 20_000,
	});
});

test("in a small window at most a quarter is kept free and at most 40 % stays as it is", () => {
	const greedy = { "compaction.reserveTokens": 1e9, "compaction.keepRecentTokens": 1e9 };
	expect(limits(greedy, 10_000)).toMatchObject({ reserve: 2_500, keepRecent: 4_000, threshold: 7_500 });
	expect(limits({}, 10_000)).toMatchObject({ reserve: 2_500, keepRecent: 4_000, threshold: 7_500 });
});

test("a setting that is no sensible number counts as unset", () => {
	const wrong = { "compaction.reserveTokens": "many", "compaction.keepRecentTokens": -1 };
	expect(limits(wrong, 200_000)).toEqual(limits({}, 200_000));
});

test("what is no regular expression is told apart, and the empty one, which fits everything, is none", () => {
	const { usable, broken } = readOverflowPatterns(["too (long|big)", "(", "", 5]);
	expect(usable.map(String)).toEqual(["/too (long|big)/i"]);
	expect(broken).toEqual(["(", "", "5"]);
	expect(readOverflowPatterns(undefined)).toEqual({ usable: [], broken: [] });
});
