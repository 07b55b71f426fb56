import type { CallOptions, Tmux } from "../tmux/server.ts";
import type { Clock, Timings } from "./clock.ts";

/** What every verb needs: the server, time, the environment and a place for warnings. */
export interface Drive {
	readonly tmux: Tmux;
	readonly clock: Clock;
	readonly timings: Timings;
	readonly env: NodeJS.ProcessEnv;
	/** Receives one line that the user should see although the verb goes on. */
	readonly warn: (message: string) => void;
	readonly signal?: AbortSignal | undefined;
	/** Refuse instead of leaving a tmux mode that a person is in. */
	readonly respectMode?: boolean | undefined;
}

/** The options that carry a verb's abort signal to tmux. */
export function callOptions(drive: Drive): CallOptions {
	return { signal: drive.signal };
}

/** Waits as the drive's clock does, until the drive's signal aborts. */
export function rest(drive: Drive, ms: number): Promise<void> {
	return drive.clock.sleep(ms, drive.signal);
}

/**
 * Asks at once and then every `stepMs` until the answer is a value, and returns it; undefined after `limitMs`. What
 * appears early ends the wait early, so the limit can be generous.
 */
export async function poll<Value>(
	drive: Drive,
	limitMs: number,
	stepMs: number,
	ask: () => Promise<Value | undefined>,
): Promise<Value | undefined> {
	const end = drive.clock.now() + limitMs;
	for (;;) {
		const value = await ask();
		if (value !== undefined) return value;
		const left = end - drive.clock.now();
		if (left <= 0) return undefined;
		await rest(drive, Math.min(stepMs, left));
	}
}
