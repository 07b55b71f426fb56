/** Sends `signal` to a process group; `false` if the group is gone. */
function signalGroup(id: number, signal: NodeJS.Signals | 0): boolean {
	try {
		process.kill(-id, signal);
		return true;
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === "ESRCH") return false;
		// EPERM: a member changed its user. The group is there, and the others got the signal.
		if ((error as NodeJS.ErrnoException).code === "EPERM") return true;
		throw error;
	}
}

/** The process groups that commands opened and that may still have members. */
export class ProcessGroups {
	readonly #live = new Set<number>();
	readonly #graceMs: number;

	/** `graceMs`: from TERM to KILL. */
	constructor(graceMs: number) {
		this.#graceMs = graceMs;
	}

	/** Registers a group, whose id is the process id of its leader. */
	add(id: number): void {
		this.#live.add(id);
	}

	/** Forgets groups without members, so that a recycled id is never signalled. */
	prune(): void {
		for (const id of this.#live) if (!signalGroup(id, 0)) this.#live.delete(id);
	}

	/** TERM to the group, KILL after the grace period if a member is left; resolves when that is done. */
	async end(id: number): Promise<void> {
		if (!signalGroup(id, "SIGTERM")) {
			this.#live.delete(id);
			return;
		}
		const deadline = performance.now() + this.#graceMs;
		while (signalGroup(id, 0)) {
			if (performance.now() >= deadline) {
				signalGroup(id, "SIGKILL");
				break;
			}
			await new Promise((resolve) => setTimeout(resolve, 20));
		}
		this.#live.delete(id);
	}

	/** Ends every registered group; bounded by the grace period. */
	async endAll(): Promise<void> {
		await Promise.all([...this.#live].map((id) => this.end(id)));
	}

	/** KILL to every registered group, at once. */
	killAll(): void {
		for (const id of this.#live) signalGroup(id, "SIGKILL");
		this.#live.clear();
	}
}
