import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Drive } from "../drive/context.ts";
import { callOptions } from "../drive/context.ts";
import { PLACEHOLDER } from "../drive/start.ts";
import type { PaneError } from "../errors.ts";
import { findPane } from "../tmux/pane.ts";
import { openPane, type SpawnedPane } from "../tmux/session.ts";
import { type DispatchRecord, WorkerFiles } from "./record.ts";

/** Where a worker's pane came to stand, in the words of the report. */
export interface PlacedPane extends SpawnedPane {
	readonly shape: "split" | "window";
}

/** Size of a window that a worker gets because a split would be too small. */
const WINDOW = { columns: 200, rows: 50 };

/** Where a worker's pane may stand. */
export interface PlaceWorker {
	readonly cwd: string;
	readonly title: string;
	/** Pane of the caller on this server; without it the worker gets a window. */
	readonly caller: string | undefined;
	/** Share of the caller's window for the column of workers, in percent. */
	readonly columnWidth: number;
	/** Smallest pane in which a worker's composer can be read. */
	readonly floor: { readonly columns: number; readonly rows: number };
	/** Panes of other workers on this server. */
	readonly siblings: readonly string[];
}

/**
 * Opens a pane, still without its worker: below the last worker in the caller's window, else right of the caller, else in a window.
 * A split that would be smaller than the floor becomes a window of a fixed size; every refusal of tmux degrades to the
 * next place with a warning.
 */
export async function placeWorker(drive: Drive, request: PlaceWorker): Promise<PlacedPane> {
	const { caller, cwd } = request;
	const options = callOptions(drive);
	if (caller !== undefined) {
		const sibling = await findSibling(drive, caller, request.siblings);
		const planned = await planSplit(drive, caller, sibling, request.columnWidth);
		const isSmall =
			planned !== undefined && (planned.columns < request.floor.columns || planned.rows < request.floor.rows);
		if (isSmall) {
			drive.warn(`a split would be only ${planned.columns}x${planned.rows}; the worker gets a window of its own`);
			return openWindow(drive, request, WINDOW);
		}
		const splits = [
			sibling === undefined
				? { beside: caller, direction: "right" as const, percent: request.columnWidth }
				: { beside: sibling, direction: "below" as const },
			{ beside: caller, direction: "right" as const },
		];
		for (const split of splits) {
			try {
				const pane = await openPane(drive.tmux, { shape: "split", command: PLACEHOLDER, cwd, ...split }, options);
				await setTitle(drive, pane.id, request.title);
				return { ...pane, shape: "split" };
			} catch (error) {
				drive.warn(`no room beside ${split.beside}: ${(error as PaneError).message}`);
			}
		}
		drive.warn("the worker gets a window of its own");
	}
	return openWindow(drive, request);
}

/** The size that a split would get; undefined when tmux does not tell, which then forbids nothing. */
async function planSplit(
	drive: Drive,
	caller: string,
	sibling: string | undefined,
	columnWidth: number,
): Promise<{ columns: number; rows: number } | undefined> {
	const pane = await findPane(drive.tmux, sibling ?? caller, callOptions(drive));
	if (pane === undefined) return undefined;
	// One column or row goes to the border.
	if (sibling === undefined) return { columns: Math.floor((pane.width * columnWidth) / 100), rows: pane.height };
	return { columns: pane.width, rows: Math.floor((pane.height - 1) / 2) };
}

async function openWindow(
	drive: Drive,
	request: PlaceWorker,
	size?: { readonly columns: number; readonly rows: number },
): Promise<PlacedPane> {
	const { cwd, title } = request;
	const options = callOptions(drive);
	const pane = await openPane(drive.tmux, { shape: "window", command: PLACEHOLDER, cwd, name: title }, options);
	if (size === undefined) return { ...pane, shape: "window" };
	const resize = ["resize-window", "-t", pane.windowId, "-x", String(size.columns), "-y", String(size.rows)];
	const reply = await drive.tmux.ask(resize, options);
	if (reply.code !== 0) drive.warn(`the window could not be made ${size.columns}x${size.rows}: ${reply.stderr.trim()}`);
	return { ...pane, shape: "window" };
}

/** Panes of all workers below a folder that were recorded for this server. */
export function listWorkerPanes(root: string, dir: string, server: string | undefined): string[] {
	const folder = join(root, dir);
	if (!existsSync(folder)) return [];
	return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
		if (!entry.isDirectory()) return [];
		const stages = readdirSync(join(folder, entry.name)).flatMap(
			(name) => /^(.+(?<!-result))\.yaml$/.exec(name)?.[1] ?? [],
		);
		return stages.flatMap((stage) => {
			const record: DispatchRecord | undefined = new WorkerFiles(root, dir, { key: entry.name, stage }).readRecord();
			return record?.pane !== undefined && record.server === server ? [record.pane] : [];
		});
	});
}

/** Titles are rewritten by agents, so only recorded ids tell which pane of the window is a worker. */
async function findSibling(drive: Drive, caller: string, siblings: readonly string[]): Promise<string | undefined> {
	const reply = await drive.tmux.ask(["list-panes", "-t", caller, "-F", "#{pane_id}"], callOptions(drive));
	const panes = reply.stdout.split("\n");
	return panes.findLast((pane) => siblings.includes(pane));
}

async function setTitle(drive: Drive, pane: string, title: string): Promise<void> {
	const reply = await drive.tmux.ask(["select-pane", "-t", pane, "-T", title], callOptions(drive));
	if (reply.code !== 0) drive.warn(`the pane could not be titled: ${reply.stderr.trim()}`);
}
