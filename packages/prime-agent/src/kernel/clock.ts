import type { ClockPort } from "../session/ports.ts";

/** The machine's clock, for a kernel that is given none; nobody is kept alive by its sleep. */
export const systemClock: ClockPort = {
	now: () => Date.now(),
	// By hand, because each cell has a time limit, and what Node builds around a sleep that is called off costs more than
	// all else that the limit needs.
	sleep: (ms, signal) => {
		const { promise, resolve, reject } = Promise.withResolvers<void>();
		if (signal?.aborted) {
			reject(signal.reason);
			return promise;
		}
		const stop = () => {
			clearTimeout(timer);
			reject(signal?.reason);
		};
		const timer = setTimeout(() => {
			signal?.removeEventListener("abort", stop);
			resolve();
		}, ms);
		timer.unref();
		signal?.addEventListener("abort", stop, { once: true });
		return promise;
	},
};
