import { describe, expect, it } from "vitest";
import { classify } from "../screen/classify.ts";
import { makeCustomCli, readTuiProfile } from "./custom.ts";

function read(tree: object) {
	const warnings: string[] = [];
	return { profile: readTuiProfile("mine", tree as Record<string, unknown>, (text) => warnings.push(text)), warnings };
}

describe("a profile of the configuration", () => {
	it("finds busy before ready, and the composer by its glyph", () => {
		const { profile } = read({ busy: "working", composer: "prompt-line", prompt_glyph: "»" });
		const screen = makeCustomCli(profile).screen!;
		expect(classify(screen, { rows: ["working (3s)", "» "] }).word).toBe("busy");
		expect(classify(screen, { rows: ["done", "» half"] })).toMatchObject({
			word: "ready",
			composer: { lines: ["half"], isEmpty: false },
		});
	});

	it("finds a notice only where it has taken the composer's place", () => {
		const dismiss = [{ match: "Rate us", choose: "Later" }];
		const screen = makeCustomCli(read({ busy: "working", composer: "claude-frame", dismiss }).profile).screen!;
		const rule = "─".repeat(60);
		expect(classify(screen, { rows: ["Rate us", "❯ 1. Now", "  2. Later"] }).word).toBe("blocked");
		expect(classify(screen, { rows: ["Rate us", rule, "❯ ", rule, "  help"] }).word).toBe("ready");
	});

	it.each([
		[{}, "busy is missing"],
		[{ busy: "(" }, "no regular expression"],
		[{ busy: "x", composer: "box" }, "composer is one of"],
		[{ busy: "x", producer: "box" }, "producer is one of"],
		[{ busy: "x", dismiss: [{ match: "y", keys: ["Enter"] }] }, "needs match and choose"],
	])("%j is refused with the key that is wrong", (tree, words) => {
		expect(() => read(tree)).toThrow(words);
	});

	it("warns about a key that it does not know", () => {
		expect(read({ busy: "x", glyph: "y" }).warnings).toEqual([expect.stringContaining('unknown key "glyph"')]);
	});
});
