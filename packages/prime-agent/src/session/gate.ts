import { AsyncLocalStorage } from "node:async_hooks";
import { AgentError } from "../protocol/errors.ts";

interface Holder {
	readonly gate: Gate;
	readonly name: string;
	readonly isTurn: boolean;
	readonly control: AbortController;
	ended: boolean;
}

/**
 * The holders that the running code is inside of, at most one of each gate. One storage for all gates: Node 22 never
 * forgets a storage that was used and visits each of them at every promise, so that one per session slows down all.
 */
const INSIDE = new AsyncLocalStorage<readonly Holder[]>();

/**
 * Who may touch the session at one moment: one turn or one exclusive task, first come, first served.
 * Code that runs inside of a turn or task cannot ask for an exclusive one: it would wait for itself.
 */
export class Gate {
	#tail: Promise<void> = Promise.resolve();
	#holder: Holder | undefined;

	/** Whether a turn runs right now. */
	get hasTurn(): boolean {
		return this.#holder?.isTurn === true;
	}

	/** Runs a turn and what follows it up to the next one. `signal` aborts when somebody interrupts. */
	turn<T>(run: (signal: AbortSignal) => Promise<T>): Promise<T> {
		return this.#enter("a turn", true, run);
	}

	/**
	 * Runs a task while no turn runs; with `interrupt`, a running turn is told to stop first. `signal` aborts when
	 * somebody interrupts.
	 * @throws {AgentError} `refused` from inside of a turn or task.
	 */
	exclusive<T>(
		reason: string,
		options: { readonly interrupt?: boolean },
		run: (signal: AbortSignal) => Promise<T>,
	): Promise<T> {
		const holder = INSIDE.getStore()?.find(({ gate, ended }) => gate === this && !ended);
		if (holder) {
			const message = `"${reason}" cannot run inside of ${holder.name}: it would wait for itself. Append a request entry and act on it in a phase.`;
			return Promise.reject(new AgentError("refused", message));
		}
		if (options.interrupt && this.hasTurn) this.interrupt(reason);
		return this.#enter(reason, false, run);
	}

	/** Tells the running turn or task to stop; false when none runs. */
	interrupt(reason: string): boolean {
		this.#holder?.control.abort(reason);
		return this.#holder !== undefined;
	}

	/** Runs code on behalf of whoever holds the gate, such as a request that comes out of a running cell. */
	onBehalf<T>(run: () => T): T {
		return this.#runInside(this.#holder, run);
	}

	/** Runs code for somebody outside, even if an event of the turn made them call. */
	outside<T>(run: () => T): T {
		return this.#runInside(undefined, run);
	}

	#enter<T>(name: string, isTurn: boolean, run: (signal: AbortSignal) => Promise<T>): Promise<T> {
		const result = this.#tail.then(async () => {
			const holder: Holder = { gate: this, name, isTurn, control: new AbortController(), ended: false };
			this.#holder = holder;
			try {
				return await this.#runInside(holder, () => run(holder.control.signal));
			} finally {
				holder.ended = true;
				this.#holder = undefined;
			}
		});
		this.#tail = result.then(
			() => undefined,
			() => undefined,
		);
		return result;
	}

	/** Runs code inside of this gate's holder or of none, and as before inside of those of other gates. */
	#runInside<T>(holder: Holder | undefined, run: () => T): T {
		const others = (INSIDE.getStore() ?? []).filter(({ gate, ended }) => gate !== this && !ended);
		return INSIDE.run(holder ? [...others, holder] : others, run);
	}
}
