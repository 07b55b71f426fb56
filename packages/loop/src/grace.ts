import type { Clock } from "./clock.ts";

/** Stands for work that was aborted and did not settle within its grace period. */
export const abandoned: unique symbol = Symbol("abandoned");

/** How long aborted work may take to settle, measured on `clock`. */
export interface Grace {
	clock: Clock;
	ms: number;
}

/**
 * Waits for `work`; once `signal` aborts, for at most the grace period more, and then answers `abandoned`.
 * The outcome of abandoned work is dropped, also a rejection: nobody is left who could act on it.
 */
export function settleOrAbandon<T>(
	work: PromiseLike<T>,
	signal: AbortSignal | undefined,
	grace: Grace,
): Promise<T | typeof abandoned> {
	return new Promise((resolve, reject) => {
		let stopTimer: (() => void) | undefined;
		const startTimer = () => {
			stopTimer = grace.clock.after(grace.ms, () => {
				release();
				resolve(abandoned);
			});
		};
		const release = () => {
			signal?.removeEventListener("abort", startTimer);
			stopTimer?.();
		};
		work.then(
			(value) => {
				release();
				resolve(value);
			},
			(error: unknown) => {
				release();
				reject(error);
			},
		);
		if (signal?.aborted) startTimer();
		else signal?.addEventListener("abort", startTimer, { once: true });
	});
}
