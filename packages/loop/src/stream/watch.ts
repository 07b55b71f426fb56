import type { Clock } from "../clock.ts";

/** How long a reply may be silent, in milliseconds; 0 switches a limit off. */
export interface StreamLimits {
	/** From the request to the first byte of the answer's body. */
	firstByteMs: number;
	/** Between two bytes of any kind; comments and pings count as bytes. */
	idleMs: number;
	/** Between two pieces of the answer itself; comments and pings do not count. */
	progressMs: number;
	/** The whole reply. */
	totalMs: number;
}

/** Which limit ran out. */
export type LimitName = "firstByte" | "idle" | "progress" | "total";

/** Two clocks beside a stream: one for bytes, one for progress. */
export interface StreamWatch {
	noteByte(): void;
	noteProgress(): void;
	/** Ends the watching; no limit can run out any more. */
	stop(): void;
}

/** Starts the clocks and calls `expire` at most once, with the limit that ran out first. */
export function watchStream(limits: StreamLimits, clock: Clock, expire: (limit: LimitName) => void): StreamWatch {
	const started = clock.now();
	let lastByte: number | undefined;
	let lastProgress: number | undefined;
	let cancelTimer: (() => void) | undefined;
	let isOver = false;

	const findNext = () => {
		const silent = lastByte === undefined;
		const dues: { limit: LimitName; due: number }[] = [
			{
				limit: silent ? "firstByte" : "idle",
				due: dueAt(lastByte ?? started, silent ? limits.firstByteMs : limits.idleMs),
			},
			{ limit: "progress", due: dueAt(lastProgress, limits.progressMs) },
			{ limit: "total", due: dueAt(started, limits.totalMs) },
		];
		return dues.reduce((first, other) => (other.due < first.due ? other : first));
	};
	// One timer that looks again when it is due, because moving it at every byte would cost more than the byte.
	const check = () => {
		if (isOver) return;
		const { limit, due } = findNext();
		const wait = due - clock.now();
		if (wait <= 0) {
			isOver = true;
			expire(limit);
		} else if (wait < Number.POSITIVE_INFINITY) {
			cancelTimer = clock.after(Math.min(wait, longestTimerMs), check);
		}
	};
	const note = (isProgress: boolean) => {
		const isFirst = lastByte === undefined;
		lastByte = clock.now();
		if (isProgress || isFirst) lastProgress = lastByte;
		if (!isFirst) return;
		// Only now may something be due sooner than the timer thinks.
		cancelTimer?.();
		check();
	};
	check();
	return {
		noteByte: () => note(false),
		noteProgress: () => note(true),
		stop() {
			isOver = true;
			cancelTimer?.();
		},
	};
}

/** Timers of Node cannot wait longer; they would fire at once. */
const longestTimerMs = 2 ** 31 - 1;

function dueAt(since: number | undefined, limitMs: number): number {
	return since !== undefined && limitMs > 0 ? since + limitMs : Number.POSITIVE_INFINITY;
}
