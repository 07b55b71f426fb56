import type { AssistantMessage, ToolResultMessage } from "@earendil-works/pi-ai";
import type { Lane } from "../protocol/event.ts";
import type { ActionContent } from "./queue.ts";

/**
 * What may happen between two turns, in this order; the only place where features are ordered against each other.
 * Within a phase the order of `features/index.ts` holds.
 *
 * recover: a failed request is made good and sent again · account: what the turn cost is counted · checkpoint: what was
 * prepared beside the run takes effect · maintain: the context is made shorter · continue: what people queued is said,
 * steering at every boundary and follow-ups when the run would end, and after them what features would like.
 */
export const PHASES = ["recover", "account", "checkpoint", "maintain", "continue"] as const;

/** One step between two turns. */
export type Phase = (typeof PHASES)[number];

/**
 * What a hook wants: `pass` has no opinion, `stop` ends the run, `prompt` says something and goes on, `again` asks the
 * model once more without saying anything, `deliver` says what waits in the queue. `again` with `dropReply` leaves the
 * reply of this turn behind on a branch of its own: the log keeps it, the model does not see it. What `first` writes
 * stands where the reply was; when it throws, the run fails.
 */
export type Verdict =
	| { readonly kind: "pass" }
	| { readonly kind: "stop"; readonly reason: string }
	| { readonly kind: "prompt"; readonly content: ActionContent }
	| { readonly kind: "again"; readonly dropReply?: boolean; readonly first?: () => void }
	| { readonly kind: "deliver"; readonly lanes: readonly Lane[] };

/** The turn that has just ended. */
export interface Turn {
	readonly message: AssistantMessage;
	readonly toolResults: readonly ToolResultMessage[];
	/** The reply is an error or was aborted: nobody goes on by itself after it, except `recover`. */
	readonly failed: boolean;
	/** Without a verdict the run ends here. */
	readonly runEnds: boolean;
	/** Aborts when the run is told to stop. */
	readonly signal: AbortSignal;
}

/** Looks at a turn between it and the next one. */
export type BoundaryHook = (turn: Turn) => Promise<Verdict> | Verdict;

/** A hook with its place. */
export interface PlacedHook {
	readonly phase: Phase;
	readonly feature: string;
	readonly run: BoundaryHook;
}

/**
 * Walks the phases; the first verdict that is not `pass` wins and the rest is not asked. A hook that throws is
 * reported and counts as `pass`. After a failed turn nothing continues, whatever the hooks would like.
 */
export async function decide(
	hooks: readonly PlacedHook[],
	turn: Turn,
	report: (feature: string, error: unknown) => void,
): Promise<Verdict> {
	for (const phase of PHASES) {
		if (phase === "continue" && turn.failed) break;
		for (const hook of hooks) {
			if (hook.phase !== phase) continue;
			try {
				const verdict = await hook.run(turn);
				if (verdict.kind !== "pass") return verdict;
			} catch (error) {
				report(hook.feature, error);
			}
		}
	}
	return { kind: "pass" };
}
