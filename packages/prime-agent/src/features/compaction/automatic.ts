import { isContextOverflow } from "@prime-agent/loop";
import type { Turn, Verdict } from "../../session/boundary.ts";
import type { FeatureHost } from "../../session/host.ts";
import { type Compactor, explainOutcome } from "./compactor.ts";
import { type CompactionRequest, REQUEST_ENTRY } from "./state.ts";
import { estimateAll, measureContext, measureGrowth, usedTokens } from "./tokens.ts";

type State = CompactionRequest | undefined;

const PASS: Verdict = { kind: "pass" };
/** Share of the window that a context must have gained since the last compaction before the next one is worth it. */
const LEAST_GROWTH = 0.1;
/** Most turns without another try after tries that failed. */
const LONGEST_PAUSE = 32;

const NEWEST_TOO_LONG = "The newest message alone is too long for the model: send less, or choose another model.";
const STILL_TOO_LONG =
	"The conversation does not fit into the model's context even after a compaction. Send less, or choose a model with a larger one.";
const SWITCHED_OFF =
	"The conversation no longer fits into the model's context, and the setting compaction.enabled is off. Use /compact.";

/** Compactions between turns: when the context has grown, a request was too long, or a cell asked. */
export class AutomaticCompaction {
	readonly #host: FeatureHost<State>;
	readonly #compactor: Compactor<State>;
	/** A compaction answered an overflow of this run, and no reply has come since. */
	#isRecovering = false;
	#failures = 0;
	/** Turns until the next try. */
	#pause = 0;
	#hasReported = false;

	constructor(host: FeatureHost<State>, compactor: Compactor<State>) {
		this.#host = host;
		this.#compactor = compactor;
	}

	/** Somebody said something: what did not help before may help now. */
	beginRun(): void {
		this.#isRecovering = false;
	}

	/** Makes a request that was too long shorter, once, and sends it again. */
	async recover(turn: Turn): Promise<Verdict> {
		if (!this.#isOverflow(turn)) {
			if (!turn.failed) this.#isRecovering = false;
			return PASS;
		}
		const advice = this.#adviseAgainst();
		if (advice !== undefined) {
			this.#host.notify("warning", advice);
			return PASS;
		}
		const outcome = await this.#compactor.run({ reason: "overflow", instructions: undefined, signal: turn.signal });
		if (outcome.kind === "ready") {
			this.#isRecovering = true;
			return { kind: "again", dropReply: true, first: () => void outcome.write() };
		}
		if (outcome.kind !== "aborted") {
			this.#host.notify("warning", outcome.kind === "nothing" ? NEWEST_TOO_LONG : explainOutcome(outcome));
		}
		return PASS;
	}

	/** Compacts when the model asked for it or the context has grown too large; the run goes on in any case. */
	async maintain(turn: Turn): Promise<Verdict> {
		if (turn.failed) return PASS;
		const request = this.#host.state();
		if (!request && !this.#isDue(turn)) return PASS;
		const outcome = await this.#compactor.run({
			reason: request ? "requested" : "threshold",
			instructions: request?.instructions ?? undefined,
			signal: turn.signal,
		});
		if (outcome.kind === "ready") {
			outcome.write();
			this.#failures = 0;
			return PASS;
		}
		if (request && outcome.kind !== "aborted") this.#host.append(REQUEST_ENTRY, { request: null });
		if (outcome.kind === "failed" || outcome.kind === "refused") {
			this.#failures++;
			this.#pause = Math.min(2 ** this.#failures, LONGEST_PAUSE);
			this.#host.notify("warning", explainOutcome(outcome));
		}
		return PASS;
	}

	#isOverflow({ message, toolResults, signal }: Turn): boolean {
		const { model, overflowPatterns } = this.#compactor;
		// A reply that is whole is kept, whatever its size: the next boundary makes room.
		const isBroken = message.stopReason === "error" || (message.stopReason === "length" && toolResults.length === 0);
		if (!model || !isBroken || signal.aborted) return false;
		this.#reportPatterns(overflowPatterns.broken);
		const { tokens } = measureContext(this.#host.fromLeaf(), this.#host.messages());
		return isContextOverflow(message, model.contextWindow, overflowPatterns.usable, tokens);
	}

	/** Why an overflow is not answered by a compaction, and what helps. */
	#adviseAgainst(): string | undefined {
		if (this.#isRecovering) return STILL_TOO_LONG;
		return this.#compactor.limits.enabled ? undefined : SWITCHED_OFF;
	}

	#isDue({ message, toolResults }: Turn): boolean {
		const { enabled, threshold, reserve } = this.#compactor.limits;
		if (!enabled || !this.#compactor.model) return false;
		const used = usedTokens(message.usage);
		const tokens = used > 0 ? used + estimateAll(toolResults) : estimateAll(this.#host.messages());
		if (tokens <= threshold) return false;
		if (this.#pause > 0) {
			this.#pause--;
			return false;
		}
		const growth = measureGrowth(this.#host.fromLeaf());
		return growth === undefined || growth >= (threshold + reserve) * LEAST_GROWTH;
	}

	#reportPatterns(broken: readonly string[]): void {
		if (this.#hasReported || broken.length === 0) return;
		this.#hasReported = true;
		this.#host.notify("warning", `compaction.overflowPatterns: not a regular expression: ${broken.join(", ")}`);
	}
}
