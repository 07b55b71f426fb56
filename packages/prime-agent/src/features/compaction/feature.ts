import { AgentError } from "../../protocol/errors.ts";
import { defineFeature, type FeatureHost } from "../../session/host.ts";
import { AutomaticCompaction } from "./automatic.ts";
import { type CompactionResult, Compactor, explainOutcome, NOTHING } from "./compactor.ts";
import { compactionStatus, runCompaction } from "./operations.ts";
import { type CompactionRequest, REQUEST_ENTRY, reduceRequest } from "./state.ts";
import { measureContext } from "./tokens.ts";

type Host = FeatureHost<CompactionRequest | undefined>;

/** Replaces older messages by a summary when the context has grown, was too large, or somebody asks. */
export const compaction = defineFeature<CompactionRequest | undefined>({
	name: "compaction",
	reads: ["compaction", `custom:${REQUEST_ENTRY}`],
	reduce: reduceRequest,
	setup(host) {
		const compactor = new Compactor(host);
		const automatic = new AutomaticCompaction(host, compactor);
		host.handle(runCompaction, ({ instructions }, { door, signal, exclusive }) => {
			if (door === "kernel") return schedule(host, compactor, instructions ?? null);
			return exclusive("compact", { interrupt: true }, (stopped) =>
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
		host.on("run_start", () => automatic.beginRun());
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
	if (outcome.kind !== "ready") throw new AgentError("refused", explainOutcome(outcome));
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
