const SIGNALS = ["SIGTERM", "SIGHUP"] as const;

let isTold = false;
let isWatching = false;

/**
 * Notices that this process was asked to end; the answer is true from then on. It changes nothing about what the signal
 * does: a program that does not handle it ends at once, as before.
 */
export function watchTermination(): () => boolean {
	if (!isWatching && SIGNALS.every((signal) => process.listenerCount(signal) > 0)) {
		isWatching = true;
		for (const signal of SIGNALS) {
			process.once(signal, () => {
				isTold = true;
			});
		}
	}
	return () => isTold;
}
