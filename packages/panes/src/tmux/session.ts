import { PaneError } from "../errors.ts";
import { escapeLiteral, quoteWord } from "./arguments.ts";
import type { CallOptions, Tmux } from "./server.ts";
import { isUnreachable } from "./server.ts";

/** What a new session, window or split runs and where. */
export interface SpawnRequest {
	/** One shell command line; tmux runs it with its default shell. */
	readonly command: string;
	readonly cwd?: string | undefined;
}

/** The ids of a pane that was just made. */
export interface SpawnedPane {
	readonly id: string;
	readonly windowId: string;
	readonly sessionId: string;
	readonly pid: number;
}

const SPAWNED = "#{pane_id}\t#{window_id}\t#{session_id}\t#{pane_pid}";

/** How a detached session is made. */
export interface SessionRequest extends SpawnRequest {
	readonly name: string;
	readonly width: number;
	readonly height: number;
	/** File that receives everything the pane prints from its first byte on. */
	readonly log?: string | undefined;
}

/**
 * Makes a detached session whose pane stays after its program ends, so that the reason of an early end can be read.
 * Fails when a session of exactly this name exists.
 */
export async function makeSession(
	tmux: Tmux,
	request: SessionRequest,
	options: CallOptions = {},
): Promise<SpawnedPane> {
	const target = `=${request.name}:`;
	// One tmux call: the program cannot end before the pane is told to stay and the log is attached.
	const args = [
		...["new-session", "-d", "-s", request.name, "-x", String(request.width), "-y", String(request.height)],
		...(request.cwd === undefined ? [] : ["-c", request.cwd]),
		...["-P", "-F", SPAWNED, request.command, ";"],
		...["set-option", "-p", "-t", target, "remain-on-exit", "on"],
	];
	if (request.log !== undefined) args.push(";", "pipe-pane", "-t", target, `cat >> ${quoteWord(request.log)}`);
	return parseSpawned(await tmux.run(args, options));
}

/** Where a pane is opened beside an existing one. */
export interface PlaceRequest extends SpawnRequest {
	readonly shape: "split" | "window";
	/** Pane to split, or the session that gets the window. */
	readonly beside?: string | undefined;
	readonly name?: string | undefined;
	/** `-v` below or `-h` to the right; only for a split. */
	readonly direction?: "below" | "right" | undefined;
	/** Share of the split in percent. */
	readonly percent?: number | undefined;
	readonly takesFocus?: boolean | undefined;
}

/** Opens a pane as a split or a window; the session in front keeps its focus unless asked otherwise. */
export async function openPane(tmux: Tmux, request: PlaceRequest, options: CallOptions = {}): Promise<SpawnedPane> {
	const args = [request.shape === "split" ? "split-window" : "new-window"];
	if (!request.takesFocus) args.push("-d");
	if (request.shape === "split") args.push(request.direction === "below" ? "-v" : "-h");
	if (request.shape === "split" && request.percent !== undefined) args.push("-l", `${request.percent}%`);
	if (request.beside !== undefined) args.push("-t", request.beside);
	if (request.shape === "window" && request.name !== undefined) args.push("-n", request.name);
	if (request.cwd !== undefined) args.push("-c", request.cwd);
	args.push("-P", "-F", SPAWNED, request.command);
	return parseSpawned(await tmux.run(args, options));
}

/**
 * Puts a program into the place of the one that a pane runs, with the folder and the environment of a new pane. The pane
 * stays after the program ends, so that the reason of an early end can be read.
 */
export async function runInPane(
	tmux: Tmux,
	id: string,
	request: SpawnRequest,
	options: CallOptions = {},
): Promise<SpawnedPane> {
	const folder = request.cwd === undefined ? [] : ["-c", request.cwd];
	// One tmux call: the program cannot end before the pane is told to stay.
	const args = [
		...["set-option", "-p", "-t", id, "remain-on-exit", "on", ";"],
		...["respawn-pane", "-k", "-t", id, ...folder, escapeLiteral(request.command), ";"],
		...["display-message", "-p", "-t", id, SPAWNED],
	];
	return parseSpawned(await tmux.run(args, options));
}

/** Gives a window a name, which tmux then changes no more by itself. */
export async function renameWindow(tmux: Tmux, id: string, name: string, options: CallOptions = {}): Promise<void> {
	// tmux would expand formats in the name.
	const literal = escapeLiteral(name.replaceAll("#", "##"));
	await tmux.run(["rename-window", "-t", id, "--", literal], options);
}

/** Ends exactly one pane; one that is already gone is no error. */
export async function killPane(tmux: Tmux, id: string, options: CallOptions = {}): Promise<void> {
	const reply = await tmux.ask(["kill-pane", "-t", id], options);
	if (reply.code !== 0 && !/can't find|no server|server exited/.test(reply.stderr)) {
		throw new PaneError("tmux", `${id} could not be killed: ${reply.stderr.trim()}`);
	}
}

/** The pane of the session of exactly this name; undefined when there is none, also when no server runs. */
export async function findSessionPane(
	tmux: Tmux,
	name: string,
	options: CallOptions = {},
): Promise<string | undefined> {
	const reply = await tmux.ask(["list-panes", "-s", "-t", `=${name}`, "-F", "#{session_name}\t#{pane_id}"], options);
	if (reply.code !== 0) {
		if (isUnreachable(reply.stderr) || /can't find|no such/.test(reply.stderr)) return undefined;
		throw new PaneError("tmux", `session ${name}: ${reply.stderr.trim()}`);
	}
	const [session, pane] = (reply.stdout.split("\n")[0] ?? "").split("\t");
	return session === name ? pane : undefined;
}

/** Ends the session of exactly this name; false when there was none. */
export async function killSession(tmux: Tmux, name: string, options: CallOptions = {}): Promise<boolean> {
	const reply = await tmux.ask(["kill-session", "-t", `=${name}`], options);
	if (reply.code === 0) return true;
	if (isUnreachable(reply.stderr) || /can't find|no such/.test(reply.stderr)) return false;
	throw new PaneError("tmux", `session ${name} could not be killed: ${reply.stderr.trim()}`);
}

/** Names of all sessions of the server; empty when no server runs. */
export async function listSessions(tmux: Tmux, options: CallOptions = {}): Promise<string[]> {
	const reply = await tmux.ask(["list-sessions", "-F", "#{session_name}"], options);
	if (reply.code === 0) return reply.stdout.split("\n").filter((name) => name !== "");
	if (isUnreachable(reply.stderr) || /no such file|no current/i.test(reply.stderr)) return [];
	throw new PaneError("tmux", `tmux could not list sessions: ${reply.stderr.trim()}`);
}

/** Writes user options of a pane in one call; an undefined value removes the option. */
export async function setPaneOptions(
	tmux: Tmux,
	id: string,
	values: Readonly<Record<string, string | undefined>>,
	options: CallOptions = {},
): Promise<void> {
	const args: string[] = [];
	for (const [name, value] of Object.entries(values)) {
		if (args.length > 0) args.push(";");
		if (value === undefined) args.push("set-option", "-p", "-u", "-q", "-t", id, name);
		else args.push("set-option", "-p", "-q", "-t", id, "--", name, escapeLiteral(value));
	}
	if (args.length > 0) await tmux.run(args, options);
}

/** Writes user options of the session that holds a pane, so that later commands need no flags. */
export async function setSessionOptions(
	tmux: Tmux,
	id: string,
	values: Readonly<Record<string, string>>,
	options: CallOptions = {},
): Promise<void> {
	const args: string[] = [];
	for (const [name, value] of Object.entries(values)) {
		if (args.length > 0) args.push(";");
		args.push("set-option", "-q", "-t", id, "--", name, escapeLiteral(value));
	}
	if (args.length > 0) await tmux.run(args, options);
}

/** Reads user options set on the pane itself, not inherited from its window, session or server. */
export async function readPaneOptions(
	tmux: Tmux,
	id: string,
	options: CallOptions = {},
): Promise<ReadonlyMap<string, string>> {
	const reply = await tmux.ask(["show-options", "-p", "-t", id], options);
	const values = new Map<string, string>();
	if (reply.code !== 0) return values;
	for (const line of reply.stdout.split("\n")) {
		const space = line.indexOf(" ");
		if (line.startsWith("@") && space > 0) values.set(line.slice(0, space), unquote(line.slice(space + 1)));
	}
	return values;
}

function parseSpawned(answer: string): SpawnedPane {
	const [id, windowId, sessionId, pid] = answer.trim().split("\t");
	if (!id?.startsWith("%") || windowId === undefined || sessionId === undefined) {
		throw new PaneError("tmux", `tmux opened no pane (it answered "${answer.trim()}")`);
	}
	return { id, windowId, sessionId, pid: Number(pid) };
}

/** tmux prints option values double-quoted with backslash escapes when they hold special characters. */
function unquote(value: string): string {
	if (value.startsWith('"') && value.endsWith('"')) return value.slice(1, -1).replace(/\\(.)/g, "$1");
	return value.startsWith("'") && value.endsWith("'") ? value.slice(1, -1) : value;
}
