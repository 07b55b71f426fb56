import { expect, test } from "vitest";
import { runKills } from "./soak/kills.ts";

test("a program that is killed at any moment loses nothing it reported, leaves nothing running and goes on", async () => {
	const { landed, faults } = await runKills({ kills: 8, seed: 11 });
	expect(faults).toEqual([]);
	expect(landed.stream + landed.cell + landed.write).toBeGreaterThan(4);
}, 180_000);
