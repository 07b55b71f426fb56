import type { ClockPort } from "../session/ports.ts";
import type { KernelLink } from "./link.ts";

const REPEAT_MS = 1000;

/** How a cell is stopped: asked again each second, and after `graceMs` its kernel is killed. */
export async function stopCell(
	link: KernelLink,
	clock: ClockPort,
	graceMs: number,
	stopped: AbortSignal,
): Promise<"asked" | "killed"> {
	for (let waited = 0; waited < graceMs; waited += REPEAT_MS) {
		link.interrupt();
		await pause(clock, Math.min(REPEAT_MS, graceMs - waited), stopped);
		if (stopped.aborted) return "asked";
	}
	link.kill();
	return "killed";
}

/** Sleeps; returns early when `signal` aborts. */
export async function pause(clock: ClockPort, ms: number, signal: AbortSignal): Promise<void> {
	try {
		await clock.sleep(ms, signal);
	} catch (error) {
		if (!signal.aborted) throw error;
	}
}
