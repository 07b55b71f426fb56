import { describe, expect, it } from "vitest";
import { findCli } from "../clis/index.ts";
import { listRecorded, readRecorded } from "../testing/recorded.ts";
import { findWall, locateAnswer } from "./walls.ts";

describe("walls on recorded screens", () => {
	it.each([
		["claude", "wall-apikey-120x40", "API key", -1],
		["copilot", "wall-trust-120x40", "folder trust", 0],
		["kimi", "firstrun-nologin-120x40", "folder trust", 0],
	])("%s %s asks for %s, and the wanted answer is %i rows below the cursor", (cli, name, wallName, offset) => {
		const screen = listRecorded().find((each) => each.cli === cli && each.name === name)!;
		for (const ending of ["txt", "ansi"] as const) {
			const { rows } = readRecorded(screen, ending);
			const wall = findWall(findCli(cli), rows)!;
			expect(wall.name).toBe(wallName);
			const { cursor, wanted } = locateAnswer(rows, wall)!;
			expect([cursor >= 0, wanted - cursor]).toEqual([true, offset]);
		}
	});

	it.each([
		["codex", "wall-login-120x40"],
		["gemini", "wall-auth-120x40"],
		["gemini", "wall-apikey-entry-120x40"],
	])("%s %s is no wall that could be answered with a yes", (cli, name) => {
		const screen = listRecorded().find((each) => each.cli === cli && each.name === name)!;
		expect(findWall(findCli(cli), readRecorded(screen, "txt").rows)).toBeUndefined();
	});

	it("no ready or busy screen shows a wall", () => {
		for (const screen of listRecorded().filter((each) => each.expected === "ready" || each.expected === "busy")) {
			expect([screen.name, findWall(findCli(screen.cli), readRecorded(screen, "txt").rows)?.name]).toEqual([
				screen.name,
				undefined,
			]);
		}
	});

	it("reads the two renderings of Claude's trust question", () => {
		const wall = findCli("claude")!.walls[0]!;
		const plain = [
			" Is this a project you created or one you trust?",
			"",
			" ❯ No, exit",
			"   Yes, I trust this folder",
			"",
			" Enter to confirm",
		];
		expect(locateAnswer(plain, wall)).toEqual({ cursor: 1, wanted: 2 });
		const numbered = [
			" Do you trust the files in this folder?",
			"",
			" ❯ 1. Yes, proceed",
			"   2. No, exit",
			"",
			" Enter to confirm",
		];
		expect(locateAnswer(numbered, wall)).toEqual({ cursor: 1, wanted: 1 });
	});
});
