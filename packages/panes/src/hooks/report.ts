import {
	type AgentWord,
	formatAgentState,
	LEGACY_STATE_OPTION,
	SESSION_OPTION,
	STATE_OPTION,
} from "../drive/agent-state.ts";
import { runInBackground } from "../tmux/background.ts";

/** Where a report goes and whom it speaks for; all have defaults from the process itself. */
export interface ReportOptions {
	readonly pid?: number;
	/** Reference of the agent's own session, without blanks; written as `<provider>:<reference>`. */
	readonly sessionRef?: string;
	readonly env?: NodeJS.ProcessEnv;
	/** Current time in milliseconds. */
	readonly now?: number;
}

const HEARTBEAT_MS = 30_000;
let last: { word: AgentWord | undefined; at: number } | undefined;

/**
 * Tells tmux what this process is doing, for `agent-tmux` and other readers of the pane. Undefined removes the state,
 * at the end of the process. Never throws and never waits; outside of tmux it does nothing. Repetitions are dropped,
 * except a sign of life every 30 s while `active`.
 */
export function reportAgentState(word: AgentWord | undefined, options: ReportOptions = {}): void {
	const env = options.env ?? process.env;
	const pane = env.TMUX_PANE;
	if (pane === undefined || !/^%\d+$/.test(pane)) return;
	const now = options.now ?? Date.now();
	if (last !== undefined && last.word === word && (word !== "active" || now - last.at < HEARTBEAT_MS)) return;
	last = { word, at: now };
	const socket = env.TMUX?.split(",")[0];
	if (word === undefined) {
		runInBackground(
			socket,
			[STATE_OPTION, LEGACY_STATE_OPTION].flatMap((name) => ["set-option", "-pu", "-t", pane, name, ";"]).slice(0, -1),
		);
		return;
	}
	const value = formatAgentState({ word, epoch: Math.floor(now / 1000), pid: options.pid ?? process.pid });
	const pairs: [string, string][] = [
		[STATE_OPTION, value],
		[LEGACY_STATE_OPTION, value],
	];
	if (options.sessionRef !== undefined && /^[a-z][a-z0-9_-]*:[^\s\p{Cc}]+$/u.test(options.sessionRef)) {
		pairs.push([SESSION_OPTION, options.sessionRef]);
	}
	runInBackground(
		socket,
		pairs.flatMap(([name, text]) => ["set-option", "-p", "-t", pane, name, text, ";"]).slice(0, -1),
	);
}
