import { setTimeout as sleep } from "node:timers/promises";

/** Resolves once `condition` holds, looking every 5 ms; rejects after `timeoutMs` and names what it waited for. */
export async function waitFor(
	condition: () => boolean | Promise<boolean>,
	what: string,
	timeoutMs = 30_000,
): Promise<void> {
	const deadline = performance.now() + timeoutMs;
	while (!(await condition())) {
		if (performance.now() > deadline) throw new Error(`Waited ${timeoutMs} ms in vain for: ${what}`);
		await sleep(5);
	}
}
