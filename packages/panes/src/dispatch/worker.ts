import { existsSync, readdirSync, rmSync } from "node:fs";
import { join, relative } from "node:path";
import { callOptions, type Drive, rest } from "../drive/context.ts";
import { deliverText } from "../drive/deliver.ts";
import { endPaneTree } from "../drive/ending.ts";
import { makePrivateFile } from "../drive/files.ts";
import { openPaneIO, type PaneIO } from "../drive/pane-io.ts";
import { probeReadiness, type Readiness } from "../drive/probe.ts";
import { startInPane } from "../drive/start.ts";
import { PaneError } from "../errors.ts";
import { findPane } from "../tmux/pane.ts";
import { Tmux } from "../tmux/server.ts";
import { startHeadless, stopGroup } from "./headless.ts";
import { listWorkerPanes, type PlacedPane, placeWorker } from "./place.ts";
import { checkWorker, type DispatchRecord, WorkerFiles, type WorkerKey } from "./record.ts";
import { type DispatchState, decideReap, deriveState, isWorkerPane, type PaneSighting } from "./state.ts";

/** What the dispatch verbs need besides a drive. */
export interface Dispatch {
	readonly drive: Drive;
	readonly root: string;
	/** Folder of the records below the root. */
	readonly dir: string;
	/** Server that was named by the caller; undefined for the caller's own. */
	readonly server: string | undefined;
	readonly columnWidth: number;
	readonly floor: { readonly columns: number; readonly rows: number };
	readonly reapDone: boolean;
}

/** A worker with its record and state. */
export interface WorkerView {
	readonly files: WorkerFiles;
	readonly record: DispatchRecord;
	readonly state: DispatchState;
}

/** The files of a worker. */
export function filesOf(dispatch: Dispatch, worker: WorkerKey): WorkerFiles {
	return new WorkerFiles(dispatch.root, dispatch.dir, checkWorker(worker.key, worker.stage));
}

/** Reads record and state of a worker; throws `PaneError` when it was never started. */
export async function viewWorker(dispatch: Dispatch, worker: WorkerKey): Promise<WorkerView> {
	const files = filesOf(dispatch, worker);
	const record = files.requireRecord();
	return { files, record, state: deriveState(record, files, await sightPane(dispatch, record)) };
}

/** Refuses to start over a worker that still runs; a finished, failed or orphaned one may be replaced. */
export async function refuseRunning(dispatch: Dispatch, worker: WorkerKey): Promise<void> {
	const files = filesOf(dispatch, worker);
	const record = files.readRecord();
	if (record === undefined) return;
	if (deriveState(record, files, await sightPane(dispatch, record)) !== "running") return;
	const name = `${worker.key} ${worker.stage}`;
	throw new PaneError(
		"already_running",
		`worker ${name} is running; end it first with: agent-tmux dispatch kill ${name}`,
	);
}

/**
 * Opens a pane worker with its prompt on disk; nothing is typed yet. Throws `PaneError` with the last output when its
 * program ends at once, and keeps no record then.
 */
export async function openWorker(
	dispatch: Dispatch,
	worker: WorkerKey,
	request: { readonly command: string; readonly prompt: string; readonly caller: string | undefined },
): Promise<PlacedPane & { readonly title: string }> {
	const { drive } = dispatch;
	const files = filesOf(dispatch, worker);
	// Reachability first: nothing may be written for a pane that cannot be opened.
	await drive.tmux.run(["list-sessions"], callOptions(drive));
	await refuseRunning(dispatch, worker);
	files.writePrompt(request.prompt);
	files.removeOutcome();
	const title = `agent-${worker.key}-${worker.stage}`;
	const place = await placeWorker(drive, {
		...{ cwd: dispatch.root, title, caller: request.caller },
		...{
			columnWidth: dispatch.columnWidth,
			floor: dispatch.floor,
			siblings: listWorkerPanes(dispatch.root, dispatch.dir, dispatch.server),
		},
	});
	const started = await startInPane(drive, place.id, { command: request.command, cwd: dispatch.root });
	const pane = { ...place, ...started };
	files.writeRecord({
		...{ spawn_cmd: request.command, started_at: startedAt(drive), pane: pane.id, window: pane.windowId },
		...(dispatch.server === undefined ? {} : { server: dispatch.server }),
		...(pane.pid > 0 ? { pane_pid: pane.pid } : {}),
	});
	return { ...pane, title };
}

/** Starts a headless worker and returns its process id. */
export async function startWorker(
	dispatch: Dispatch,
	worker: WorkerKey,
	request: {
		readonly command: string;
		readonly prompt: string;
		readonly timeoutSeconds?: number | undefined;
		readonly needsTerminal?: boolean | undefined;
	},
): Promise<number> {
	const files = filesOf(dispatch, worker);
	await refuseRunning(dispatch, worker);
	files.writePrompt(request.prompt);
	files.removeOutcome();
	makePrivateFile(files.log);
	const { timeoutSeconds } = request;
	const pid = startHeadless({
		...{ command: request.command, cwd: dispatch.root, env: dispatch.drive.env, timeoutSeconds },
		...{ prompt: files.prompt, log: files.log, exit: files.exit, needsTerminal: request.needsTerminal },
	});
	const timeout = timeoutSeconds === undefined ? {} : { timeout: timeoutSeconds };
	files.writeRecord({ spawn_cmd: request.command, started_at: startedAt(dispatch.drive), pid, pgid: pid, ...timeout });
	return pid;
}

/** Probes whether a worker that was not given its prompt yet takes input. */
export async function probeWorker(
	dispatch: Dispatch,
	worker: WorkerKey,
): Promise<Readiness & { readonly pane: string }> {
	const { io, drive } = await openUndelivered(dispatch, worker);
	return { ...(await probeReadiness(drive, io)), pane: io.id };
}

/**
 * Points a worker at its prompt file. Result and exit of an earlier round are taken away first, and put back exactly
 * when the delivery cannot be verified.
 */
export async function deliverWorker(
	dispatch: Dispatch,
	worker: WorkerKey,
	promptFile?: string,
): Promise<{ readonly pane: string; readonly path: string }> {
	const { io, drive, view } = await openUndelivered(dispatch, worker);
	const path = promptFile ?? relative(dispatch.root, view.files.prompt);
	if (!existsSync(join(dispatch.root, path))) {
		throw new PaneError("prompt_missing", `there is no file ${path} in ${dispatch.root}; nothing was typed`);
	}
	const restore = view.files.stashOutcome();
	try {
		await deliverText(drive, io, `Read ${path} and execute it.`);
	} catch (error) {
		restore();
		throw error;
	}
	view.files.writeRecord({ ...view.record, delivered: true });
	return { pane: io.id, path };
}

/** Waits until a worker is no longer running; on expiry the state is read once more. */
export async function waitWorker(dispatch: Dispatch, worker: WorkerKey, timeoutMs: number): Promise<WorkerView> {
	const { drive } = dispatch;
	const end = timeoutMs > 0 ? drive.clock.now() + timeoutMs : Number.POSITIVE_INFINITY;
	for (;;) {
		const view = await viewWorker(dispatch, worker);
		const left = end - drive.clock.now();
		if (view.state !== "running" || left <= 0) return view;
		await rest(drive, Math.min(drive.timings.dispatchTick, left));
	}
}

/** Ends a worker whatever it does; false when it was already gone. A pane that is not the recorded one is not touched. */
export async function killWorker(dispatch: Dispatch, worker: WorkerKey): Promise<boolean> {
	const { record } = await viewWorker(dispatch, worker);
	if (record.pane === undefined) return record.pgid !== undefined && stopGroup(record.pgid);
	if (!(await hasWorkerPane(dispatch, record))) return false;
	await endWorkerPane(dispatch, record, record.pane);
	return true;
}

/** Closes the pane of a finished worker; returns why not otherwise. Its files stay, so it stays done. */
export async function reapWorker(dispatch: Dispatch, worker: WorkerKey): Promise<string | undefined> {
	const { record, state } = await viewWorker(dispatch, worker);
	const reason = decideReap(record, state, dispatch.reapDone);
	if (reason !== undefined || record.pane === undefined) return reason;
	if (!(await hasWorkerPane(dispatch, record))) return "its pane is already gone";
	await endWorkerPane(dispatch, record, record.pane);
	return undefined;
}

async function endWorkerPane(dispatch: Dispatch, record: DispatchRecord, pane: string): Promise<void> {
	const tmux = tmuxOf(dispatch, record);
	const pid = record.pane_pid ?? (await findPane(tmux, pane, callOptions(dispatch.drive)))?.pid ?? 0;
	await endPaneTree({ ...dispatch.drive, tmux }, { id: pane, pid });
}

/** Removes the folders of one key, or of all keys without a running or finished worker; kills nothing. */
export async function cleanWorkers(dispatch: Dispatch, key: string | undefined): Promise<string[]> {
	const folder = join(dispatch.root, dispatch.dir);
	if (!existsSync(folder)) return [];
	const keys =
		key === undefined
			? await listOrphaned(dispatch, folder)
			: existsSync(join(folder, checkWorker(key, "x").key))
				? [key]
				: [];
	for (const each of keys) rmSync(join(folder, each), { recursive: true, force: true });
	return keys;
}

async function listOrphaned(dispatch: Dispatch, folder: string): Promise<string[]> {
	const orphaned: string[] = [];
	for (const entry of readdirSync(folder, { withFileTypes: true })) {
		if (!entry.isDirectory() || !/^[a-z0-9][a-z0-9-]{0,31}$/.test(entry.name)) continue;
		const stages = readdirSync(join(folder, entry.name)).flatMap(
			(name) => /^(.+(?<!-result))\.yaml$/.exec(name)?.[1] ?? [],
		);
		const views = await Promise.all(stages.map((stage) => viewWorker(dispatch, { key: entry.name, stage })));
		if (views.every((view) => view.state === "orphaned")) orphaned.push(entry.name);
	}
	return orphaned;
}

/** A worker that works must not be typed at; one that is gone cannot be. */
async function openUndelivered(
	dispatch: Dispatch,
	worker: WorkerKey,
): Promise<{ io: PaneIO; drive: Drive; view: WorkerView }> {
	const view = await viewWorker(dispatch, worker);
	const { record, files } = view;
	const name = `${worker.key}/${worker.stage}`;
	if (record.pane === undefined) throw new PaneError("wrong_mode", `worker ${name} is headless; it takes no input`);
	if (!(await hasWorkerPane(dispatch, record))) {
		throw new PaneError(
			"gone",
			`the pane of worker ${name} is gone; start it again with: agent-tmux dispatch restart ${worker.key} ${worker.stage}`,
		);
	}
	if (record.delivered && !files.hasResult()) {
		throw new PaneError("mid_stage", `worker ${name} is working on its prompt; wait for it, or kill it`);
	}
	const drive = { ...dispatch.drive, tmux: tmuxOf(dispatch, record) };
	return { io: openPaneIO(drive, record.pane), drive, view };
}

/** Whether the recorded pane of a worker still runs that worker, and not another program under its id. */
export async function hasWorkerPane(dispatch: Dispatch, record: DispatchRecord): Promise<boolean> {
	return isWorkerPane(record, await sightPane(dispatch, record));
}

async function sightPane(dispatch: Dispatch, record: DispatchRecord): Promise<PaneSighting> {
	if (record.pane === undefined) return { exists: false, pid: undefined };
	try {
		const info = await findPane(tmuxOf(dispatch, record), record.pane, callOptions(dispatch.drive));
		return { exists: info !== undefined && !info.isDead, pid: info?.pid };
	} catch (error) {
		// A server that is gone has taken its panes with it.
		if (error instanceof PaneError && error.code === "tmux") return { exists: false, pid: undefined };
		throw error;
	}
}

function tmuxOf(dispatch: Dispatch, record: DispatchRecord): Tmux {
	return record.server === undefined
		? dispatch.drive.tmux
		: new Tmux({ name: record.server }, { env: dispatch.drive.env });
}

function startedAt(drive: Drive): string {
	return new Date(drive.clock.now()).toISOString().replace(/\.\d+Z$/, "Z");
}
