import type { KernelRestart, LostName } from "../session/ports.ts";
import type { KernelEnd } from "./link.ts";
import type { Restored } from "./snapshot.ts";

/** What is known when a kernel starts: how the one before ended, the names it had, what a snapshot gave back. */
export interface Beginning {
	readonly ended: KernelEnd | undefined;
	readonly names: readonly string[];
	readonly restored: Restored | undefined;
}

/** What the first cell of a kernel is to be told; undefined when nothing was there before. */
export function makeRestart({ ended, names, restored }: Beginning): KernelRestart | undefined {
	if (!ended && !restored) return undefined;
	const back = new Set(restored?.restored);
	const reasons = new Map<string, LostName>();
	for (const each of [...(restored?.unsaved ?? []), ...(restored?.lost ?? [])]) reasons.set(each.name, each);
	// a name that the snapshot knows as lost may have been removed since; what the kernel said last counts
	const missing = ended && names.length > 0 ? names : [...reasons.keys()];
	return {
		...(ended ? { how: ended.how } : {}),
		restored: [...back],
		lost: missing.filter((name) => !back.has(name)).map((name) => reasons.get(name) ?? { name }),
		behind: restored?.behind ?? 0,
		...(restored?.problem === undefined ? {} : { problem: restored.problem }),
		...(restored?.folder === undefined ? {} : { folder: restored.folder }),
	};
}
