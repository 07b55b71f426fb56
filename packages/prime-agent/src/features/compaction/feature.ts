import { isContextOverflow } from "@prime-agent/loop";
import { AgentError } from "../../protocol/errors.ts";
import type { Turn, Verdict } from "../../session/boundary.ts";
import { defineFeature, type FeatureHost } from "../../session/host.ts";
import { type CompactionOutcome, type CompactionResult, Compactor } from "./compactor.ts";
import { compactionStatus, runCompaction } from "./operations.ts";
import { type CompactionRequest, REQUEST_ENTRY, reduceRequest } from "./state.ts";
import { estimateAll, measureContext, measureGrowth, usedTokens } from "./tokens.ts";

type Host = FeatureHost<CompactionRequest | undefined>;

const PASS: Verdict = { kind: "pass" };
const NOTHING = "There is nothing to compact yet.";
/** Share of the window that a context must have gained since the last compaction before the next one is worth it. */
const LEAST_GROWTH = 0.1;
/** Most turns without another try after tries that failed. */
const LONGEST_PAUSE = 32;

/** Replaces older messages by a summary when the context has grown, was too large, or somebody asks. */
export const compaction = defineFeature<CompactionRequest | undefined>({
	name: "compaction",
	reads: ["compaction", `custom:${REQUEST_ENTRY}`],
	reduce: reduceRequest,
	setup(host) {
		const compactor = new Compactor(host);
		const automatic = new AutomaticCompaction(host, compactor);
		host.handle(runCompaction, ({ instructions }, { door, signal }) => {
			if (door === "kernel") return schedule(host, compactor, instructions ?? null);
			return host.exclusive("compact", { interrupt: true }, (stopped) =>
				compactNow(compactor, instructions ?? undefined, AbortSignal.any([signal, stopped, host.signal])),
			);
		});
		host.handle(compactionStatus, () => {
			const { tokens, isMeasured } = measureContext(host.fromLeaf(), host.messages());
			const window = compactor.model?.contextWindow ?? null;
			const percent = isMeasured && window ? Math.round((tokens / window) * 1_000) / 10 : null;
			return { tokens, context_window: window, percent, scheduled: host.state() !== undefined };
		});
		host.registerCommand({
			name: "compact",
			description: "Replace older messages by a summary; words after it say what to take special care of",
			parse: (args) => ({
				operation: runCompaction.name,
				params: args.trim() === "" ? {} : { instructions: args.trim() },
				say: (result) => `Compacted: ${(result as CompactionResult).tokensBefore} tokens of context before.`,
			}),
		});
		host.atBoundary("recover", (turn) => automatic.recover(turn));
		host.atBoundary("maintain", (turn) => automatic.maintain(turn));
	},
});

async function compactNow(
	compactor: Compactor<CompactionRequest | undefined>,
	instructions: string | undefined,
	signal: AbortSignal,
) {
	const outcome = await compactor.run({ reason: "manual", instructions, signal });
	if (outcome.kind === "aborted") throw new AgentError("cancelled", "The compaction was stopped; nothing has changed.");
	if (outcome.kind !== "ready") throw new AgentError("refused", explain(outcome));
	const { summary, firstKeptEntryId, tokensBefore } = outcome.write();
	return { scheduled: false, summary, firstKeptEntryId, tokensBefore };
}

/** A cell cannot wait for the end of its own turn: what it asks for is written down and done then. */
function schedule(
	host: Host,
	compactor: Compactor<CompactionRequest | undefined>,
	instructions: string | null,
): { scheduled: boolean; reason?: string } {
	if (!compactor.limits.agentCallable) {
		return { scheduled: false, reason: "The setting compaction.agentCallable does not allow it." };
	}
	if (!compactor.canCompact("requested")) return { scheduled: false, reason: NOTHING };
	const request: CompactionRequest = { instructions: instructions ?? host.state()?.instructions ?? null };
	host.append(REQUEST_ENTRY, { request });
	return { scheduled: true };
}

/** Compactions between turns. */
class AutomaticCompaction {
	readonly #host: Host;
	readonly #compactor: Compactor<CompactionRequest | undefined>;
	/** A compaction answered an overflow, and no reply has come since. */
	#isRecovering = false;
	#failures = 0;
	/** Turns until the next try. */
	#pause = 0;
	#hasReported = false;

	constructor(host: Host, compactor: Compactor<CompactionRequest | undefined>) {
		this.#host = host;
		this.#compactor = compactor;
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
		if (outcome.kind === "nothing") {
			this.#host.notify(
				"warning",
				"The newest message alone is too long for the model: send less, or choose another model.",
			);
		} else this.#report(outcome);
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
			this.#report(outcome);
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
		if (this.#isRecovering) {
			return "The conversation does not fit into the model's context even after a compaction. Send less, or choose a model with a larger one.";
		}
		if (this.#compactor.limits.enabled) return undefined;
		return "The conversation no longer fits into the model's context, and the setting compaction.enabled is off. Use /compact.";
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

	#report(outcome: CompactionOutcome): void {
		const text = outcome.kind === "aborted" ? undefined : explain(outcome);
		if (text !== undefined) this.#host.notify("warning", text);
	}

	#reportPatterns(broken: readonly string[]): void {
		if (this.#hasReported || broken.length === 0) return;
		this.#hasReported = true;
		this.#host.notify("warning", `compaction.overflowPatterns: not a regular expression: ${broken.join(", ")}`);
	}
}

function explain(outcome: CompactionOutcome): string {
	if (outcome.kind === "refused") return `The conversation was not compacted: ${outcome.reason}`;
	if (outcome.kind === "failed") return `The conversation could not be compacted: ${outcome.error}`;
	return NOTHING;
}
