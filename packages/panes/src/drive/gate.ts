import { PaneError } from "../errors.ts";
import type { AgentWord } from "./agent-state.ts";

/** What a sender intends: a new prompt, the answer to a question, or anything at all. */
export type Intent = "plain" | "answer" | "force";

/**
 * Decides whether a message may be sent to an agent in a state; throws `PaneError` naming the state and the flag that
 * fits. An unknown state is ordinary: it is allowed with a warning, which is returned.
 */
export function checkGate(pane: string, word: AgentWord | undefined, intent: Intent): string | undefined {
	if (intent === "force") return undefined;
	if (word === undefined) return `${pane} reports no agent state; sending anyway`;
	if (word === "active") {
		throw new PaneError(
			"refused",
			`${pane} is active (a turn runs); wait with: agent-tmux await ${pane}, or use --force`,
		);
	}
	if (word === "waiting" && intent === "plain") {
		throw new PaneError("refused", `${pane} is waiting for an answer; answer it with --answer, or use --force`);
	}
	return undefined;
}
