import { readAgentState, rollUp } from "../drive/agent-state.ts";
import { callOptions, type Drive } from "../drive/context.ts";
import { type PaneInfo, resolvePane } from "../tmux/pane.ts";
import { parsePaneTarget } from "../tmux/target.ts";

/**
 * The pane of a target word. In a window the active pane is taken if its agent reports a state, else the first pane
 * that does, else the active one.
 */
export async function resolveTarget(drive: Drive, word: string): Promise<PaneInfo> {
	return resolvePane(
		drive.tmux,
		parsePaneTarget(word),
		(panes) => preferInstrumented(drive, panes),
		callOptions(drive),
	);
}

async function preferInstrumented(drive: Drive, panes: readonly PaneInfo[]): Promise<PaneInfo | undefined> {
	const states = await Promise.all(panes.map((pane) => readAgentState(drive, pane)));
	const known = panes.filter((_, index) => states[index] !== undefined);
	if (rollUp(states.map((state) => state?.word)) === undefined) return undefined;
	return known.find((pane) => pane.isActive) ?? known[0];
}
