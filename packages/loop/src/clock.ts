/** The time source of everything in this package that waits, so that tests can move time by hand. */
export interface Clock {
	/** Milliseconds that only grow; differences count, the origin means nothing. */
	now(): number;
	/** Calls `run` once after `ms` milliseconds, unless the returned function is called before. */
	after(ms: number, run: () => void): () => void;
}

/** The clock of the machine: monotonic. */
export const systemClock: Clock = {
	now: () => performance.now(),
	after(ms, run) {
		const timer = setTimeout(run, ms);
		return () => clearTimeout(timer);
	},
};
