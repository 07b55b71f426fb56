import type { SessionEvent, SessionListener } from "./events.ts";

/** Hands the events of a session to everybody who wants them, in order. */
export class EventFeed {
	readonly #listeners = new Set<SessionListener>();
	#hasEnded = false;

	/** Calls `listener` with each event from now on; the function that it gives back ends that. */
	subscribe(listener: SessionListener): () => void {
		const own: SessionListener = (event) => listener(event);
		this.#listeners.add(own);
		return () => this.#listeners.delete(own);
	}

	/**
	 * The events from now on until the end of the session. They are kept until they are read, so that a slow reader
	 * misses none; leaving the loop ends the keeping.
	 */
	events(): AsyncIterableIterator<SessionEvent> {
		const kept: SessionEvent[] = [];
		let wake: (() => void) | undefined;
		let isOver = this.#hasEnded;
		const finish = () => {
			isOver = true;
			wake?.();
		};
		const unsubscribe = this.subscribe((event) => {
			kept.push(event);
			if (event.type === "session_end") finish();
			wake?.();
		});
		const iterator: AsyncIterableIterator<SessionEvent> = {
			async next() {
				while (kept.length === 0 && !isOver) {
					await new Promise<void>((resolve) => {
						wake = resolve;
					});
				}
				const value = kept.shift();
				return value === undefined ? { value, done: true } : { value, done: false };
			},
			async return() {
				unsubscribe();
				kept.length = 0;
				finish();
				return { value: undefined, done: true };
			},
			[Symbol.asyncIterator]: () => iterator,
		};
		return iterator;
	}

	/** Tells an event to all; what a listener throws is reported as a process warning and stops nothing. */
	tell(event: SessionEvent): void {
		if (event.type === "session_end") this.#hasEnded = true;
		for (const listener of [...this.#listeners]) {
			try {
				listener(event);
			} catch (error) {
				process.emitWarning(`A listener of a session failed: ${String(error)}`);
			}
		}
	}
}
