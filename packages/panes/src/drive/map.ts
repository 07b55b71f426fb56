import { execFile } from "node:child_process";
import { basename, dirname, relative } from "node:path";
import { PaneError, TmuxError } from "../errors.ts";
import { isUnreachable } from "../tmux/server.ts";
import { readPaneOptions } from "../tmux/session.ts";
import {
	type AgentState,
	formatAge,
	LEGACY_STATE_OPTION,
	parseAgentState,
	reconcileState,
	STATE_OPTION,
} from "./agent-state.ts";
import { callOptions, type Drive } from "./context.ts";
import { readProcessTree, walkTree } from "./processes.ts";

/** One row of the pane map. `pane` and `window_id` are the keys; names and indexes are for display. */
export interface MapRow {
	readonly session: string;
	readonly session_id: string;
	readonly window_index: number;
	readonly window_id: string;
	readonly window_name: string;
	readonly window_active: boolean;
	readonly pane: string;
	readonly pane_index: number;
	readonly pane_active: boolean;
	readonly command: string;
	readonly cwd: string;
	readonly repo: string | null;
	readonly worktree: string;
	readonly agent_state: string | null;
	readonly agent_state_duration: string | null;
}

/** Which panes to list: those of the caller's session, of a named one, or all of the server. */
export type MapScope =
	| { readonly kind: "caller" }
	| { readonly kind: "session"; readonly name: string }
	| { readonly kind: "all" };

const FIELDS = [
	"session_name",
	"session_id",
	"window_index",
	"window_id",
	"window_name",
	"window_active",
	"pane_id",
	"pane_index",
	"pane_active",
	"pane_pid",
	"pane_current_command",
	"pane_current_path",
	STATE_OPTION,
	LEGACY_STATE_OPTION,
	// A field that is never empty at the end keeps empty ones before it.
	"pane_id",
];

/** Lists panes with the state of their agents, at the cost of one tmux call. */
export async function mapPanes(drive: Drive, scope: MapScope): Promise<MapRow[]> {
	const args = ["list-panes", ...scopeFlags(drive, scope), "-F", FIELDS.map((field) => `#{${field}}`).join("\t")];
	const reply = await drive.tmux.ask(args, callOptions(drive));
	if (reply.code !== 0) {
		const hint = isUnreachable(reply.stderr) ? " Name another server with --server." : "";
		throw new TmuxError(`tmux could not list panes: ${reply.stderr.trim()}.${hint}`);
	}
	const places = new Map<string, Promise<{ repo: string | null; worktree: string }>>();
	const lines = reply.stdout.split("\n").filter((line) => line !== "");
	return Promise.all(lines.map((line) => toRow(drive, line.split("\t"), places)));
}

function scopeFlags(drive: Drive, scope: MapScope): string[] {
	if (scope.kind === "all") return ["-a"];
	if (scope.kind === "session") return ["-s", "-t", `=${scope.name}`];
	const pane = drive.env.TMUX_PANE;
	if (!drive.env.TMUX) {
		throw new PaneError("config", "not inside a tmux session; use --all-sessions or --session NAME");
	}
	return pane ? ["-s", "-t", pane] : ["-s"];
}

async function toRow(
	drive: Drive,
	parts: readonly string[],
	places: Map<string, Promise<{ repo: string | null; worktree: string }>>,
): Promise<MapRow> {
	const at = (index: number) => parts[index] ?? "";
	const cwd = at(11);
	const place = places.get(cwd) ?? describeFolder(cwd);
	places.set(cwd, place);
	const { repo, worktree } = await place;
	const pane = { pid: Number(at(9)), command: at(10) };
	const state = await readState(drive, at(6), at(12) || at(13), pane);
	const isTimed = state?.word === "idle" || state?.word === "waiting";
	return {
		session: at(0),
		session_id: at(1),
		window_index: Number(at(2)),
		window_id: at(3),
		window_name: at(4),
		window_active: at(5) === "1",
		pane: at(6),
		pane_index: Number(at(7)),
		pane_active: at(8) === "1",
		command: pane.command,
		cwd,
		repo,
		worktree,
		agent_state: state?.word ?? null,
		agent_state_duration: state !== undefined && isTimed ? formatAge(drive.clock.now() / 1000 - state.epoch) : null,
	};
}

/** The format also shows a value that was set for the window or the server, so the pane must prove it is its own. */
async function readState(
	drive: Drive,
	id: string,
	text: string,
	pane: { pid: number; command: string },
): Promise<AgentState | undefined> {
	const shown = parseAgentState(text);
	if (shown === undefined) return undefined;
	if (shown.pid !== undefined) {
		const tree = await readProcessTree(pane.pid);
		return tree !== undefined && [...walkTree(tree)].some((node) => node.pid === shown.pid) ? shown : undefined;
	}
	const own = await readPaneOptions(drive.tmux, id, callOptions(drive));
	return reconcileState(parseAgentState(own.get(STATE_OPTION) || own.get(LEGACY_STATE_OPTION)), pane);
}

/** Repository and worktree of a folder, as people name them. */
function describeFolder(cwd: string): Promise<{ repo: string | null; worktree: string }> {
	return new Promise((resolve) => {
		const args = ["-C", cwd, "rev-parse", "--path-format=absolute", "--show-toplevel", "--git-common-dir"];
		execFile("git", args, { timeout: 5000 }, (error, stdout) => {
			const [top, common] = stdout.trim().split("\n");
			if (error || !top || !common) return resolve({ repo: null, worktree: `${basename(cwd)}/` });
			const main = dirname(common);
			resolve({ repo: basename(main), worktree: top === main ? "(main)" : relative(dirname(main), top) });
		});
	});
}
