import type { PaneInfo } from "../tmux/pane.ts";
import { readPaneOptions } from "../tmux/session.ts";
import { callOptions, type Drive } from "./context.ts";
import { findAgent, isAlive, isShell, type ProcessNode, readProcessTree, walkTree } from "./processes.ts";

/** The state that an agent's own hooks write: a turn runs, a person is asked, the turn is complete. */
export type AgentWord = "active" | "waiting" | "idle";

/** The words in the order in which a window shows them. */
export const AGENT_WORDS: readonly AgentWord[] = ["waiting", "active", "idle"];

/** Pane option that holds the state, shared with other tools that read and write it. */
export const STATE_OPTION = "@rk_pane_agent_state";
/** The option's retired name: read when the current one is unset, and still written for older readers. */
export const LEGACY_STATE_OPTION = "@rk_agent_state";
/** Pane option that names the agent's session as `<provider>:<reference>`. */
export const SESSION_OPTION = "@rk_pane_agent_session";

/** A state with the second it was written and, if known, the process that is in it. */
export interface AgentState {
	readonly word: AgentWord;
	/** Seconds since the epoch. */
	readonly epoch: number;
	readonly pid?: number;
}

/** Reads `<state>:<epoch>[:<pid>]`; anything else is unknown and never trusted in part. */
export function parseAgentState(text: string | undefined): AgentState | undefined {
	const match = /^(active|waiting|idle):(\d+)(?::([1-9]\d*))?$/.exec(text ?? "");
	if (match === null) return undefined;
	const state = { word: match[1] as AgentWord, epoch: Number(match[2]) };
	return match[3] === undefined ? state : { ...state, pid: Number(match[3]) };
}

/** Writes a state as `parseAgentState` reads it. */
export function formatAgentState(state: AgentState): string {
	const text = `${state.word}:${state.epoch}`;
	return state.pid === undefined ? text : `${text}:${state.pid}`;
}

/** How long ago a state was written: `59s`, `1m`, `2h`; a time in the future counts as now. */
export function formatAge(seconds: number): string {
	const age = Math.max(0, Math.floor(seconds));
	if (age < 60) return `${age}s`;
	return age < 3600 ? `${Math.floor(age / 60)}m` : `${Math.floor(age / 3600)}h`;
}

/** The state for a whole window: waiting before active before idle; unknown panes add nothing. */
export function rollUp(words: readonly (AgentWord | undefined)[]): AgentWord | undefined {
	return AGENT_WORDS.find((word) => words.includes(word));
}

/**
 * Checks a state against the processes: a written pid must be alive; without one a pane that shows a shell must hold
 * an agent below it. A state that fails is unknown.
 */
export async function reconcileState(
	state: AgentState | undefined,
	pane: { readonly command: string; readonly pid: number },
	readTree: (pid: number) => Promise<ProcessNode | undefined> = readProcessTree,
): Promise<AgentState | undefined> {
	if (state === undefined) return undefined;
	if (state.pid !== undefined) return isAlive(state.pid) ? state : undefined;
	if (!isShell(pane.command)) return state;
	const tree = await readTree(pane.pid);
	const hasAgent = tree !== undefined && [...walkTree(tree)].some((node) => findAgent(node) !== undefined);
	return hasAgent ? state : undefined;
}

/** Reads the reconciled state of one pane from the options set on the pane itself. */
export async function readAgentState(drive: Drive, pane: PaneInfo): Promise<AgentState | undefined> {
	const options = await readPaneOptions(drive.tmux, pane.id, callOptions(drive));
	const text = options.get(STATE_OPTION) || options.get(LEGACY_STATE_OPTION);
	return reconcileState(parseAgentState(text), pane);
}
