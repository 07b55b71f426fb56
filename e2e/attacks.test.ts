import { expect, test } from "vitest";
import { type Backend, canServe, runAttack } from "./attacks/arena.ts";
import { pickAttacks } from "./attacks/index.ts";

const BACKENDS: readonly Backend[] = ["builtin", "ipykernel"];

for (const backend of BACKENDS) {
	const can = backend === "builtin" || (await canServe(backend));
	const left = can ? "" : " (left out: no Python has ipykernel)";
	for (const attack of pickAttacks(6, 20)) {
		test.skipIf(!can)(
			`a session on the ${backend} kernel withstands ${attack.name}${left}`,
			async () => {
				expect((await runAttack(attack, backend)).faults).toEqual([]);
			},
			500_000,
		);
	}
}
