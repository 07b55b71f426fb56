import { afterAll, beforeAll, describe, it } from "vitest";
import { Bench, findLack, type KernelCase } from "./testing/bench.ts";
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
	/** Its kernels come from a fork server; only areas in which that can make a difference are tried. */
	readonly isForked?: boolean;
	/** Why its cases are left out, if they are. */
	readonly lacks?: string | undefined;
}

const lacks = await findLack("ipykernel");

const BACKENDS: readonly Backend[] = [
	{ name: "builtin" },
	{ name: "ipykernel", lacks },
	{ name: "ipykernel", isForked: true, lacks },
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

/** Where a forked kernel could differ from one that was started from nothing; all with `KERNEL_FORK_AREAS=all`. */
const FORK_AREAS =
	process.env.KERNEL_FORK_AREAS === "all" ? AREAS.map(([area]) => area) : ["interrupts", "life", "environment"];

for (const backend of BACKENDS) {
	const { name, isForked } = backend;
	for (const [area, cases] of AREAS) {
		if (isForked && !FORK_AREAS.includes(area)) continue;
		const left = backend.lacks ? " (left out: no Python has ipykernel)" : "";
		describe.skipIf(backend.lacks).concurrent(`${isForked ? "forked " : ""}${name} kernel, ${area}${left}`, () => {
			if (isForked) keepFirst();
			for (const { title, run } of cases) {
				it(title, async () => {
					const bench = await Bench.create(name, isForked ? "forks" : "no forks");
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

/** Keeps a kernel, so that all that start beside it are forked. */
function keepFirst(): void {
	let first: Bench | undefined;
	beforeAll(async () => {
		first = await Bench.create("ipykernel", "forks");
		await first.run("1");
	});
	afterAll(() => first?.close());
}
