import { readAgentState, rollUp } from "../drive/agent-state.ts";
import { callOptions, type Drive } from "../drive/context.ts";
import { tmuxName } from "../drive/session.ts";
import { PaneMissing } from "../errors.ts";
import { type PaneInfo, readPane, resolvePane } from "../tmux/pane.ts";
import { findSessionPane } from "../tmux/session.ts";
import { parseTarget } from "../tmux/target.ts";

/**
 * The pane of a target word: a pane, a window, or a session that `launch` made. In a window the active pane is taken if
 * its agent reports a state, else the first pane that does, else the active one.
 */
export async function resolveTarget(drive: Drive, word: string): Promise<PaneInfo> {
	const options = callOptions(drive);
	const target = parseTarget(word);
	if (target.kind !== "name") {
		return resolvePane(drive.tmux, target, (panes) => preferInstrumented(drive, panes), options);
	}
	const pane = await findSessionPane(drive.tmux, tmuxName(drive, target.name), options);
	if (pane === undefined)
		throw new PaneMissing(word, "no session of this name, and no %PANE, @WINDOW or =session:window");
	return readPane(drive.tmux, pane, options);
}

async function preferInstrumented(drive: Drive, panes: readonly PaneInfo[]): Promise<PaneInfo | undefined> {
	const states = await Promise.all(panes.map((pane) => readAgentState(drive, pane)));
	const known = panes.filter((_, index) => states[index] !== undefined);
	if (rollUp(states.map((state) => state?.word)) === undefined) return undefined;
	return known.find((pane) => pane.isActive) ?? known[0];
}
