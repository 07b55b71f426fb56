/** Time as the verbs see it; tests replace it. */
export interface Clock {
	/** Milliseconds since the epoch. */
	now(): number;
	/** Resolves after a time; rejects with the signal's reason when it aborts first. */
	sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** The machine's clock. */
export const realClock: Clock = {
	now: () => Date.now(),
	sleep: (ms, signal) =>
		new Promise((resolve, reject) => {
			if (signal?.aborted) return reject(signal.reason);
			const timer = setTimeout(done, ms);
			const onAbort = () => {
				clearTimeout(timer);
				reject(signal?.reason);
			};
			signal?.addEventListener("abort", onAbort, { once: true });
			function done() {
				signal?.removeEventListener("abort", onAbort);
				resolve();
			}
		}),
};

/** Every waiting time of the verbs in milliseconds, and the counts that go with them. */
export interface Timings {
	/** Rest between clearing a composer and the capture that is compared with later ones. */
	readonly settle: number;
	/** Longest wait for typed text to appear, and the rest between two looks. */
	readonly echo: number;
	readonly look: number;
	/** Rest between two captures that must be equal. */
	readonly stability: number;
	/** Longest wait for a change of the screen after Enter. */
	readonly reaction: number;
	/** Rest before and between the captures that look for a paste. */
	readonly pasteProbe: number;
	readonly pasteProbes: number;
	/** Rests between Enter and the captures that look for a change. */
	readonly submitLadder: readonly number[];
	readonly retryLadder: readonly number[];
	readonly clearPresses: number;
	readonly awaitPoll: number;
	readonly activeGrace: number;
	readonly readyPoll: number;
	/** Longest wait for a long paste to appear in the composer of a session. */
	readonly pasteEcho: number;
	readonly sendRound: number;
	readonly sendRounds: number;
	readonly sendPoll: number;
	/** Longest wait for a turn to stop after the keys that interrupt it. */
	readonly interrupt: number;
	/** Longest wait for processes to end after each of the three ways to ask them. */
	readonly ending: number;
	/** How long a program that is opened in a pane has to live to count as started. */
	readonly start: number;
	readonly launchPoll: number;
	readonly afterDismiss: number;
	readonly waitPoll: number;
	readonly rolloutWindow: number;
	readonly dispatchTick: number;
}

/** The times that are used outside of tests. */
export const TIMINGS: Timings = {
	settle: 300,
	echo: 1200,
	look: 100,
	stability: 500,
	reaction: 800,
	pasteProbe: 80,
	pasteProbes: 3,
	submitLadder: [40, 80, 160, 320, 640],
	retryLadder: [160, 320, 640],
	clearPresses: 4,
	awaitPoll: 2000,
	activeGrace: 10_000,
	readyPoll: 600,
	pasteEcho: 20_000,
	sendRound: 900,
	sendRounds: 12,
	sendPoll: 150,
	interrupt: 5000,
	ending: 2000,
	start: 500,
	launchPoll: 1000,
	afterDismiss: 1200,
	waitPoll: 1000,
	rolloutWindow: 6000,
	dispatchTick: 2000,
};
