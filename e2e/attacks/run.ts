import { type Backend, canServe, runAttack } from "./arena.ts";
import type { Attack } from "./attack.ts";
import { ATTACKS } from "./index.ts";

const BACKENDS: readonly Backend[] = ["builtin", "ipykernel"];

/**
 * Runs attacks on both back ends one after another; true when all were withstood.
 * `wanted` chooses those whose name contains it, or a back end by `builtin:` or `ipykernel:` in front.
 */
export async function runAttacks(wanted: string): Promise<boolean> {
	const [, side = "", part = ""] = /^(?:(builtin|ipykernel):)?(.*)$/s.exec(wanted) ?? [];
	let faults = 0;
	let count = 0;
	let left = 0;
	for (const backend of BACKENDS.filter((each) => !side || each === side)) {
		if (!(await canServe(backend))) {
			left++;
			console.log(`left out: no Python has ${backend}`);
			continue;
		}
		for (const attack of ATTACKS) {
			if (!attack.name.includes(part) || (attack.only && attack.only !== backend)) continue;
			count++;
			faults += await report(attack, backend);
		}
	}
	console.log(`${count} attacks, ${faults} faults`);
	// a name that nothing has is a mistake
	return faults === 0 && count + left > 0;
}

async function report(attack: Attack, backend: Backend): Promise<number> {
	const began = performance.now();
	const { faults, hostMb } = await runAttack(attack, backend);
	const seconds = ((performance.now() - began) / 1000).toFixed(1);
	console.log(
		`${faults.length === 0 ? "ok   " : "FAULT"} ${backend}: ${attack.name} (${seconds} s, host ${hostMb} MB)`,
	);
	for (const fault of faults) console.log(`      ${fault}`);
	return faults.length;
}
