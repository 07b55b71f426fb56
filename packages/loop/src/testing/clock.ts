import type { Clock } from "../clock.ts";

/** A clock that stands still until it is moved. */
export interface HandClock extends Clock {
	/** Moves time on and runs the timers that are due, in order. */
	advance(ms: number): void;
	/** How many timers wait. */
	waiting(): number;
}

/** A clock for tests: time moves only by `advance`. */
export function handClock(): HandClock {
	let time = 0;
	let timers: { due: number; run: () => void }[] = [];
	return {
		now: () => time,
		after(ms, run) {
			const timer = { due: time + ms, run };
			timers.push(timer);
			return () => {
				timers = timers.filter((other) => other !== timer);
			};
		},
		advance(ms) {
			const end = time + ms;
			for (;;) {
				const next = timers.filter((timer) => timer.due <= end).sort((a, b) => a.due - b.due)[0];
				if (!next) break;
				timers = timers.filter((other) => other !== next);
				time = next.due;
				next.run();
			}
			time = end;
		},
		waiting: () => timers.length,
	};
}
