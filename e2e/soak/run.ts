import { spawnSync } from "node:child_process";
import { resolve } from "node:path";
import { runAttacks } from "../attacks/run.ts";
import { runKills } from "./kills.ts";

/** Long random runs. Each part also runs in the suite, small: this is the same with more seeds. */
const KILLS = Number(process.env.SOAK_KILLS ?? 200);
/** Part of the name of the attacks to run, with `builtin:` or `ipykernel:` in front for one side; all when empty. */
const ATTACKS = process.env.SOAK_ATTACKS ?? "";
const TESTS = [
	{
		what: "10,000 random worlds of queue and gate",
		file: "packages/prime-agent/src/session/queue.test.ts",
		env: { SOAK_WORLDS: "10000" },
	},
	{
		what: "2,000 random damages of streams",
		file: "packages/loop/src/stream/bytes.test.ts",
		env: { SOAK_STREAMS: "2000" },
	},
];

let failed = false;
// The quick parts come first: whoever broke something need not wait for it.
for (const { what, file, env } of TESTS) {
	console.log(what);
	const root = resolve(import.meta.dirname, "../..");
	const vitest = resolve(root, "node_modules/vitest/vitest.mjs");
	const run = spawnSync(process.execPath, [vitest, "run", file, "--testTimeout=3600000"], {
		cwd: root,
		env: { ...process.env, ...env },
		stdio: "inherit",
	});
	failed ||= run.status !== 0;
}

const seed = Number(process.env.SOAK_SEED ?? Date.now() % 1_000_000);
console.log(`${KILLS} kills, seed ${seed}`);
const { landed, faults } = await runKills({
	kills: KILLS,
	seed,
	onKill: (done) => {
		if (done % 20 === 0) console.log(`  ${done} of ${KILLS}`);
	},
});
const aimed = landed.stream + landed.cell + landed.write;
console.log(`landed: ${JSON.stringify(landed)}; ${Math.round((100 * aimed) / KILLS)} % in a stream, a cell or a write`);
for (const fault of faults) console.log(`FAULT ${fault}`);
failed ||= faults.length > 0 || aimed < 0.8 * KILLS;

console.log("attacks on the kernel");
failed = !(await runAttacks(ATTACKS)) || failed;
console.log(failed ? "soak: FAILED" : "soak: passed");
process.exitCode = failed ? 1 : 0;
