import { describe, it } from "vitest";
import { Bench, type Capability, findLack, type KernelCase } from "./testing/bench.ts";
import { BRIDGE } from "./testing/bridge.ts";
import { CELLS } from "./testing/cells.ts";
import { COMMANDS } from "./testing/commands.ts";
import { ENVIRONMENT } from "./testing/environment.ts";
import { HOSTILE } from "./testing/hostile.ts";
import { INTERRUPTS } from "./testing/interrupts.ts";
import { LIFE } from "./testing/life.ts";
import { OUTPUT } from "./testing/output.ts";
import { RESTORES } from "./testing/restores.ts";
import { SAVING } from "./testing/saving.ts";
import { SKILLS } from "./testing/skills.ts";
import { SNAPSHOTS } from "./testing/snapshots.ts";

interface Backend {
	readonly name: "builtin" | "ipykernel";
	readonly can: readonly Capability[];
	/** Why its cases are left out, if they are. */
	readonly lacks?: string | undefined;
}

const BACKENDS: readonly Backend[] = [
	{ name: "builtin", can: ["signals", "magic-messages", "standard-library-first", "flushes-at-end"] },
	{
		name: "ipykernel",
		can: ["signals", "magic-messages", "standard-library-first", "flushes-at-end"],
		lacks: await findLack("ipykernel"),
	},
];

const AREAS: readonly [string, readonly KernelCase[]][] = [
	["cells", CELLS],
	["commands", COMMANDS],
	["output", OUTPUT],
	["interrupts", INTERRUPTS],
	["bridge", BRIDGE],
	["life", LIFE],
	["snapshots", SNAPSHOTS],
	["saving", SAVING],
	["restoring", RESTORES],
	["skills", SKILLS],
	["environment", ENVIRONMENT],
	["hostile cells", HOSTILE],
];

for (const backend of BACKENDS) {
	for (const [area, cases] of AREAS) {
		const left = backend.lacks ? " (left out: no Python has ipykernel)" : "";
		describe.skipIf(backend.lacks).concurrent(`${backend.name} kernel, ${area}${left}`, () => {
			for (const { title, needs = [], run } of cases) {
				it.skipIf(needs.some((need) => !backend.can.includes(need)))(title, async () => {
					const bench = await Bench.create(backend.name);
					try {
						await run(bench);
					} finally {
						await bench.close();
					}
				});
			}
		});
	}
}
