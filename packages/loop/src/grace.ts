import type { Clock } from "./clock.ts";

/** Stands for work that was aborted and did not settle within its grace period. */
export const abandoned: unique symbol = Symbol("abandoned");

/** How long aborted work may take to settle, measured on `clock`. */
export interface Grace {
	clock: Clock;
	ms: number;
}

/** Waits for pieces of work that share one signal and one grace period. */
export interface Patience {
	/**
	 * The outcome of a piece of work, or `abandoned` when the grace period is over before it; then the outcome is dropped,
	 * also a rejection: nobody is left who could act on it. One piece at a time.
	 */
	settle<T>(work: PromiseLike<T>): Promise<T | typeof abandoned>;
	/** Nothing is waited for any more. */
	end(): void;
}

/** Begins to watch the signal; once it aborts, everything has the grace period to settle in. */
export function startPatience(signal: AbortSignal | undefined, grace: Grace): Patience {
	let isOver = false;
	let abandon: (() => void) | undefined;
	let stopTimer: (() => void) | undefined;
	const startTimer = () => {
		stopTimer = grace.clock.after(grace.ms, () => {
			isOver = true;
			abandon?.();
		});
	};
	if (signal?.aborted) startTimer();
	else signal?.addEventListener("abort", startTimer, { once: true });
	return {
		settle: (work) =>
			new Promise((resolve, reject) => {
				abandon = () => resolve(abandoned);
				if (isOver) abandon();
				work.then(resolve, reject);
			}),
		end() {
			signal?.removeEventListener("abort", startTimer);
			stopTimer?.();
		},
	};
}

/**
 * Waits for `work`; once `signal` aborts, for at most the grace period more, and then answers `abandoned`.
 * The outcome of abandoned work is dropped, also a rejection: nobody is left who could act on it.
 */
export async function settleOrAbandon<T>(
	work: PromiseLike<T>,
	signal: AbortSignal | undefined,
	grace: Grace,
): Promise<T | typeof abandoned> {
	const patience = startPatience(signal, grace);
	try {
		return await patience.settle(work);
	} finally {
		patience.end();
	}
}
