import type { Attack } from "./attack.ts";
import { DEATHS } from "./deaths.ts";
import { DECEITS } from "./deceits.ts";
import { FLOODS } from "./floods.ts";
import { HANGS } from "./hangs.ts";
import { LEAKS } from "./leaks.ts";

/** Every attack. */
export const ATTACKS: readonly Attack[] = [...HANGS, ...DEATHS, ...FLOODS, ...DECEITS, ...LEAKS];

/** Some of those that are quick and small, others for another seed. */
export function pickAttacks(count: number, seed: number): readonly Attack[] {
	const quick = ATTACKS.filter(({ inSuite, only }) => inSuite !== false && !only);
	return Array.from({ length: count }, (_, n) => quick[(seed + n * STRIDE) % quick.length]).filter(
		(each) => each !== undefined,
	);
}

/** Shares no factor with any likely number of attacks, so that a row of picks has no attack twice. */
const STRIDE = 29;
