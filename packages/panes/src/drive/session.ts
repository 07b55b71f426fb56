import { PaneError } from "../errors.ts";
import { classify, type Verdict } from "../screen/classify.ts";
import type { PaneFrame } from "../tmux/pane.ts";
import { findSessionPane, listSessions } from "../tmux/session.ts";
import { checkName } from "../tmux/target.ts";
import { callOptions, type Drive } from "./context.ts";
import { endSessionTree } from "./ending.ts";
import { openPaneIO, type PaneIO } from "./pane-io.ts";
import { type Profile, resolveProfile, type StatusWord, statusOf } from "./profile.ts";

/** Session options that `launch` writes and the other verbs read. */
const PROFILE_FORMATS = ["#{@profile}", "#{@ready}", "#{@busy}", "#{@tui}"] as const;

/** A live session with what its screen showed at one moment. */
export interface SessionView {
	readonly name: string;
	readonly io: PaneIO;
	readonly profile: Profile;
	readonly frame: PaneFrame;
	readonly verdict: Verdict;
}

/** Prefix of the tmux names of sessions that belong to this tool. */
function sessionPrefix(env: NodeJS.ProcessEnv): string {
	return env.AGENT_TMUX_PREFIX || "at_";
}

/** The tmux name of a logical session name; throws `UsageError` for names that tmux would change. */
export function tmuxName(drive: Drive, name: string): string {
	return checkName(`${sessionPrefix(drive.env)}${checkName(name)}`);
}

/** Finds a session and reads its screen; undefined when there is none of exactly this name. */
export async function viewSession(drive: Drive, name: string): Promise<SessionView | undefined> {
	const pane = await findSessionPane(drive.tmux, tmuxName(drive, name), callOptions(drive));
	return pane === undefined ? undefined : viewPane(drive, name, pane);
}

/**
 * Reads the screen of a pane that was found before; undefined when it is gone. A pane that `launch` did not make is read
 * as the profile `otherwise` says.
 */
export async function viewPane(
	drive: Drive,
	name: string,
	pane: string,
	otherwise = "generic",
): Promise<SessionView | undefined> {
	const io = openPaneIO(drive, pane);
	let frame: PaneFrame;
	try {
		frame = await io.frame({ styled: true, formats: PROFILE_FORMATS });
	} catch (error) {
		if (error instanceof PaneError && error.code === "pane_missing") return undefined;
		throw error;
	}
	const [stored = "", ready = "", busy = "", tui = ""] = frame.values;
	const profile = resolveProfile({ profile: stored || otherwise, ready, busy, tui });
	const { info, rows } = frame;
	const capture = { rows, isStyled: true, title: info.title, isDead: info.isDead, cursor: info.cursor };
	return { name, io, profile, frame, verdict: classify(profile.rules, capture) };
}

/** Like `viewSession`, but a missing or dead session is an error that says so. */
export async function requireSession(drive: Drive, name: string): Promise<SessionView> {
	const view = await viewSession(drive, name);
	if (view === undefined) throw missing(name);
	if (view.verdict.word === "dead") throw new PaneError("gone", `the program of session "${name}" has ended`);
	return view;
}

/** What the screen alone says; it can be wrong, `state` is the verb to trust. */
export async function readStatus(drive: Drive, name: string): Promise<StatusWord> {
	const view = await viewSession(drive, name);
	return view === undefined ? "dead" : statusOf(view.verdict);
}

/** The last rows of a session, without blanks at the end of each row. */
export async function peekSession(drive: Drive, name: string, lines: number): Promise<string> {
	const view = await viewSession(drive, name);
	if (view === undefined) throw missing(name);
	const tail = await view.io.tail(lines);
	return tail
		.split("\n")
		.map((row) => row.trimEnd())
		.join("\n");
}

/** Ends a session; refuses a busy one unless forced. False when there was none. */
export async function endSession(
	drive: Drive,
	name: string,
	options: { force?: boolean | undefined } = {},
): Promise<boolean> {
	const view = await viewSession(drive, name);
	if (view === undefined) return endSessionTree(drive, tmuxName(drive, name), undefined);
	if (view.verdict.word === "busy" && !options.force) {
		throw new PaneError(
			"refused",
			`session "${name}" is busy; wait for it, or end it with: agent-tmux kill ${name} --force`,
		);
	}
	return endSessionTree(drive, tmuxName(drive, name), view.frame.info.pid);
}

/** Logical names of all sessions of this tool. */
export async function listNames(drive: Drive): Promise<string[]> {
	const prefix = sessionPrefix(drive.env);
	const names = await listSessions(drive.tmux, callOptions(drive));
	return names.filter((name) => name.startsWith(prefix)).map((name) => name.slice(prefix.length));
}

function missing(name: string): PaneError {
	return new PaneError("session_missing", `no session '${name}'. Running sessions: agent-tmux list`);
}
