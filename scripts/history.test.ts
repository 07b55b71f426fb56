import { expect, it } from "vitest";
import { countTogether } from "./history.ts";

it("countTogether names the most changed files with their most frequent companion", () => {
	const commits = [["a.ts", "b.ts"], ["a.ts", "b.ts", "c.ts"], ["a.ts"], ["d.ts"]];
	expect(countTogether(commits, 3)).toEqual([
		{ path: "a.ts", count: 3, partner: { path: "b.ts", count: 2 } },
		{ path: "b.ts", count: 2, partner: { path: "a.ts", count: 2 } },
		{ path: "c.ts", count: 1, partner: { path: "a.ts", count: 1 } },
	]);
});

it("countTogether gives a file that always changes alone no companion", () => {
	expect(countTogether([["d.ts"], ["d.ts"]], 10)).toEqual([{ path: "d.ts", count: 2 }]);
});
