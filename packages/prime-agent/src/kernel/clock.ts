import { setTimeout as sleep } from "node:timers/promises";
import type { ClockPort } from "../session/ports.ts";

/** The machine's clock, for a kernel that is given none. */
export const systemClock: ClockPort = {
	now: () => Date.now(),
	sleep: async (ms, signal) => {
		await sleep(ms, undefined, { signal, ref: false });
	},
};
