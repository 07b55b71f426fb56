import { AgentError } from "../protocol/errors.ts";

/** A turn or an exclusive task that runs or has run. */
export interface Holder {
	readonly name: string;
	readonly isTurn: boolean;
	readonly hasEnded: boolean;
}

interface Held extends Holder {
	readonly control: AbortController;
	hasEnded: boolean;
}

/** How an exclusive task begins. */
export interface ExclusiveOptions {
	/** A running turn is told to stop first. */
	readonly interrupt?: boolean;
	/** Who waits for the task: while that runs, the task could never begin. */
	readonly within?: Holder | undefined;
}

/** Who may touch the session at one moment: one turn or one exclusive task, first come, first served. */
export class Gate {
	#tail: Promise<void> = Promise.resolve();
	#holder: Held | undefined;

	/** Who holds the gate right now. */
	get holder(): Holder | undefined {
		return this.#holder;
	}

	/** Whether a turn runs right now. */
	get hasTurn(): boolean {
		return this.#holder?.isTurn === true;
	}

	/** Runs a turn and what follows it up to the next one. `signal` aborts when somebody interrupts. */
	turn<T>(run: (signal: AbortSignal) => Promise<T>): Promise<T> {
		return this.#enter("a turn", true, run);
	}

	/**
	 * Runs a task while no turn runs. `signal` aborts when somebody interrupts.
	 * @throws {AgentError} `refused` when it would wait for itself.
	 */
	exclusive<T>(reason: string, options: ExclusiveOptions, run: (signal: AbortSignal) => Promise<T>): Promise<T> {
		const { interrupt = false, within } = options;
		if (within && !within.hasEnded) {
			const message = `"${reason}" cannot run inside of ${within.name}: it would wait for itself. Append a request entry and act on it in a phase.`;
			return Promise.reject(new AgentError("refused", message));
		}
		if (interrupt && this.hasTurn) this.interrupt(reason);
		return this.#enter(reason, false, run);
	}

	/** Tells the running turn or task to stop; false when none runs. */
	interrupt(reason: string): boolean {
		this.#holder?.control.abort(reason);
		return this.#holder !== undefined;
	}

	#enter<T>(name: string, isTurn: boolean, run: (signal: AbortSignal) => Promise<T>): Promise<T> {
		const result = this.#tail.then(async () => {
			const holder: Held = { name, isTurn, control: new AbortController(), hasEnded: false };
			this.#holder = holder;
			try {
				return await run(holder.control.signal);
			} finally {
				holder.hasEnded = true;
				this.#holder = undefined;
			}
		});
		this.#tail = result.then(
			() => undefined,
			() => undefined,
		);
		return result;
	}
}
