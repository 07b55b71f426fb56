import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

// Behind the title of a test stand the acceptance cases that it proves: T1 to T160 for what agent-tmux promises, and
// R01 to R19 for faults that drivers of agent CLIs have met.
const CASES = [
	...Array.from({ length: 160 }, (_, index) => `T${index + 1}`),
	...["R01", "R03", "R05", "R07", "R09", "R11", "R13", "R15", "R17", "R19"],
];

/** The cases that stand in brackets at the end of the titles of a test file. */
function listCases(path: string): string[] {
	const titles = readFileSync(path, "utf8").matchAll(/\(((?:[TR]\d+(?:, )?)+)\)"/g);
	return [...titles].flatMap((match) => (match[1] ?? "").split(", "));
}

describe("the acceptance cases of agent-tmux", () => {
	const root = fileURLToPath(new URL("../", import.meta.url));
	const files = readdirSync(root, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".test.ts"));
	const proven = new Set(files.flatMap((name) => listCases(join(root, name))));

	it("each stand behind the title of a test", () => {
		expect(CASES.filter((name) => !proven.has(name))).toEqual([]);
	});

	it("are the only numbers behind titles", () => {
		expect([...proven].filter((name) => !CASES.includes(name))).toEqual([]);
	});
});
