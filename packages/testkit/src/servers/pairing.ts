/** Which calls and results of a conversation do not belong together; each format walks over its own messages. */

import type { Candidate, Problem, Rule } from "./rule.ts";

/** One place where calls and results do not fit. */
export interface PairingFault {
	readonly kind: "orphan-result" | "missing-result" | "duplicate-call" | "duplicate-result";
	/** Position of the message with the call or the result. */
	readonly at: string;
	readonly ids: readonly string[];
}

/** The four rules about calls and results, over one walk through the conversation. */
export function pairingRules(
	findPairing: (candidate: Candidate) => readonly PairingFault[],
	describe: Readonly<Record<PairingFault["kind"], (fault: PairingFault) => Problem>>,
): Rule[] {
	const known = new WeakMap<Candidate, readonly PairingFault[]>();
	return (Object.keys(describe) as PairingFault["kind"][]).map((kind) => ({
		name: kind,
		check: (candidate) => {
			const faults = known.get(candidate) ?? findPairing(candidate);
			known.set(candidate, faults);
			const fault = faults.find((each) => each.kind === kind);
			return fault && describe[kind](fault);
		},
	}));
}

/** Follows a conversation from its beginning and collects the faults. */
export class Pairing {
	readonly faults: PairingFault[] = [];
	readonly #seen = new Set<string>();
	#open = new Map<string, string>();
	#answered = new Set<string>();

	/** A call is made. */
	ask(id: string, at: string): void {
		if (this.#seen.has(id)) this.faults.push({ kind: "duplicate-call", at, ids: [id] });
		this.#seen.add(id);
		this.#open.set(id, at);
	}

	/** A call gets its result. */
	answer(id: string, at: string): void {
		if (this.#open.delete(id)) this.#answered.add(id);
		else this.faults.push({ kind: this.#answered.has(id) ? "duplicate-result" : "orphan-result", at, ids: [id] });
	}

	/** All open calls should have their results by now. */
	settle(): void {
		const [first] = this.#open.values();
		if (first !== undefined) this.faults.push({ kind: "missing-result", at: first, ids: [...this.#open.keys()] });
		this.#open = new Map();
		this.#answered = new Set();
	}
}
