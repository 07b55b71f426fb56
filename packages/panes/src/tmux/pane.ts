import { PaneMissing, TmuxError } from "../errors.ts";
import type { CallOptions, Tmux } from "./server.ts";
import { isUnreachable } from "./server.ts";
import type { Target } from "./target.ts";

/** What tmux knows about one pane at one moment. */
export interface PaneInfo {
	readonly id: string;
	readonly windowId: string;
	readonly sessionId: string;
	readonly pid: number;
	readonly isDead: boolean;
	readonly isInMode: boolean;
	readonly isActive: boolean;
	readonly command: string;
	readonly tty: string;
	readonly cwd: string;
	readonly width: number;
	readonly height: number;
	readonly cursor: { readonly x: number; readonly y: number; readonly isVisible: boolean };
	readonly title: string;
}

const FIELDS = [
	"pane_id",
	"window_id",
	"session_id",
	"pane_pid",
	"pane_dead",
	"pane_in_mode",
	"pane_active",
	"pane_width",
	"pane_height",
	"cursor_x",
	"cursor_y",
	"cursor_flag",
	"pane_tty",
	"pane_current_command",
	"pane_current_path",
	"pane_title",
];

/** The format string whose lines `parsePaneInfo` reads; fields are divided by tabs, the title is last. */
const PANE_FORMAT = FIELDS.map((field) => `#{${field}}`).join("\t");

/** Reads one line of `PANE_FORMAT`; undefined for the empty answer that tmux 3.3a gives for a missing pane. */
function parsePaneInfo(line: string): PaneInfo | undefined {
	const parts = line.split("\t");
	if (parts.length < FIELDS.length || !/^%\d+$/.test(parts[0] ?? "")) return undefined;
	const at = (index: number) => parts[index] ?? "";
	return {
		id: at(0),
		windowId: at(1),
		sessionId: at(2),
		pid: Number(at(3)),
		isDead: at(4) === "1",
		isInMode: Number(at(5)) > 0,
		isActive: at(6) === "1",
		width: Number(at(7)),
		height: Number(at(8)),
		cursor: { x: Number(at(9)), y: Number(at(10)), isVisible: at(11) === "1" },
		tty: at(12),
		command: at(13),
		cwd: at(14),
		title: parts.slice(15).join("\t"),
	};
}

/** Reads a live pane; throws `PaneMissing` when it is unknown or dead, `TmuxError` when the server is unreachable. */
export async function readPane(tmux: Tmux, id: string, options: CallOptions = {}): Promise<PaneInfo> {
	const info = await findPane(tmux, id, options);
	if (info === undefined) throw new PaneMissing(id);
	if (info.isDead) throw new PaneMissing(id, "its program has ended and the pane is dead");
	return info;
}

/** Reads a pane, dead or alive; undefined when it does not exist. An inexact id never resolves. */
export async function findPane(tmux: Tmux, id: string, options: CallOptions = {}): Promise<PaneInfo | undefined> {
	// An empty target would silently mean the caller's own pane.
	if (!/^%\d+$/.test(id)) return undefined;
	const reply = await tmux.ask(["display-message", "-p", "-t", id, PANE_FORMAT], options);
	if (reply.code !== 0) {
		rejectUnlessMissing(tmux, reply.stderr);
		return undefined;
	}
	const info = parsePaneInfo(reply.stdout.replace(/\n$/, ""));
	return info?.id === id ? info : undefined;
}

/** A pane with the screen it shows, read in one call so that both belong to the same moment. */
export interface PaneFrame {
	readonly info: PaneInfo;
	/** Values of the formats that were asked for, in their order. */
	readonly values: readonly string[];
	/** Rows of the visible screen, top to bottom; with SGR sequences when `styled` was asked for. */
	readonly rows: readonly string[];
}

/** What to read with a frame. */
export interface FrameRequest extends CallOptions {
	/** Keep colours and attributes in the rows. */
	readonly styled?: boolean;
	/** tmux formats to expand in the same call, for example `#{@profile}`. */
	readonly formats?: readonly string[];
}

/** Reads a pane and its visible screen in one tmux call; undefined when the pane does not exist. */
export async function readFrame(tmux: Tmux, id: string, request: FrameRequest = {}): Promise<PaneFrame | undefined> {
	if (!/^%\d+$/.test(id)) return undefined;
	const formats = request.formats ?? [];
	const ask = [PANE_FORMAT, ...formats].flatMap((format) => ["display-message", "-p", "-t", id, format, ";"]);
	const style = request.styled ? ["-e"] : [];
	const reply = await tmux.ask([...ask, "capture-pane", "-p", ...style, "-t", id], request);
	if (reply.code !== 0) {
		rejectUnlessMissing(tmux, reply.stderr);
		return undefined;
	}
	const lines = toRows(reply.stdout);
	const info = parsePaneInfo(lines[0] ?? "");
	if (info?.id !== id) return undefined;
	return { info, values: lines.slice(1, 1 + formats.length), rows: lines.slice(1 + formats.length) };
}

/** The last `lines` rows of a pane with history, without the blank rows at its end. */
export async function captureTail(tmux: Tmux, id: string, lines: number, options: CallOptions = {}): Promise<string[]> {
	const output = await tmux.run(["capture-pane", "-p", "-t", id, "-S", `-${lines}`], options);
	const rows = toRows(output);
	while (rows.length > 0 && rows.at(-1)?.trim() === "") rows.pop();
	return rows.slice(-lines);
}

/** Finds the pane that a pane or window target means; `prefer` picks among a window's panes. */
export async function resolvePane(
	tmux: Tmux,
	target: Exclude<Target, { kind: "name" }>,
	prefer: (panes: readonly PaneInfo[]) => Promise<PaneInfo | undefined> = async (panes) =>
		panes.find((p) => p.isActive),
	options: CallOptions = {},
): Promise<PaneInfo> {
	if (target.kind === "pane") return readPane(tmux, target.id, options);
	const reply = await tmux.ask(["list-panes", "-t", target.id, "-F", PANE_FORMAT], options);
	if (reply.code !== 0) {
		rejectUnlessMissing(tmux, reply.stderr);
		throw new PaneMissing(target.id, "no such window");
	}
	const panes = reply.stdout
		.split("\n")
		.map((line) => parsePaneInfo(line))
		.filter((info) => info !== undefined && !info.isDead) as PaneInfo[];
	const pane = (await prefer(panes)) ?? panes.find((p) => p.isActive) ?? panes[0];
	if (pane === undefined) throw new PaneMissing(target.id, "the window has no live pane");
	return pane;
}

function toRows(output: string): string[] {
	const rows = output.split("\n");
	if (rows.at(-1) === "") rows.pop();
	return rows;
}

function rejectUnlessMissing(tmux: Tmux, words: string): void {
	if (!isUnreachable(words) && /can't find|no such|not found/i.test(words)) return;
	const where = tmux.label === undefined ? "the default tmux server" : `tmux server ${tmux.label}`;
	const hint = isUnreachable(words) ? " Start one, or name another with --server." : "";
	throw new TmuxError(`${where}: ${words.trim()}.${hint}`);
}
