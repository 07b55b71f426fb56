import { isAlive } from "../drive/processes.ts";
import type { DispatchRecord, WorkerFiles } from "./record.ts";

/** The state of a worker, as other tools read it. */
export type DispatchState = "running" | "done" | "failed" | "failed (no-result)" | "orphaned";

/** What is known about the pane of a worker at one moment. */
export interface PaneSighting {
	readonly exists: boolean;
	/** Process of the pane, if it could be read. */
	readonly pid: number | undefined;
}

/** State of a headless worker from its exit file, its process and its result. Garbage in the exit file reads as 0. */
export function deriveHeadless(exit: string | undefined, isRunning: boolean, hasResult: boolean): DispatchState {
	if (exit === undefined) return isRunning ? "running" : "orphaned";
	const code = /^\s*(\d+)\s*$/.exec(exit)?.[1];
	if (code !== undefined && Number(code) !== 0) return "failed";
	return hasResult ? "done" : "failed (no-result)";
}

/** State of a pane worker: its result is the only sign of completion and outranks the life of the pane. */
export function derivePane(hasResult: boolean, isPaneAlive: boolean): DispatchState {
	if (hasResult) return "done";
	return isPaneAlive ? "running" : "orphaned";
}

/** Whether the pane is the recorded one: after a restart of tmux the same id can name another pane. */
export function isWorkerPane(record: Pick<DispatchRecord, "pane_pid">, pane: PaneSighting): boolean {
	if (!pane.exists) return false;
	return record.pane_pid === undefined || pane.pid === undefined || pane.pid === record.pane_pid;
}

/** State of a recorded worker; `pane` is what its pane looks like now. */
export function deriveState(record: DispatchRecord, files: WorkerFiles, pane: PaneSighting): DispatchState {
	if (record.pane !== undefined) return derivePane(files.hasResult(), isWorkerPane(record, pane));
	const isRunning = record.pid !== undefined && isAlive(record.pid);
	return deriveHeadless(files.readExit(), isRunning, files.hasResult());
}

/** Whether a finished worker's pane may be closed, or why not. */
export function decideReap(record: DispatchRecord, state: DispatchState, reapDone: boolean): string | undefined {
	if (record.pane === undefined) return "a headless worker has no pane";
	if (state !== "done") return `the worker is ${state}`;
	return reapDone ? undefined : "dispatch.reap_done is off";
}

/** How a worker is started. */
export type DispatchMode = "native" | "pane" | "headless";

/** Picks the mode: a forced one, else the preferred one and from there down, never up. */
export function selectMode(
	preferred: DispatchMode,
	can: Readonly<Record<DispatchMode, boolean>>,
	forced?: DispatchMode,
): { readonly mode: DispatchMode; readonly reason: string } | undefined {
	if (forced !== undefined) return { mode: forced, reason: `mode: ${forced} (asked for)` };
	const ladder: DispatchMode[] = ["pane", "native", "headless"];
	const steps = ladder.slice(ladder.indexOf(preferred));
	const mode = steps.find((each) => can[each]);
	if (mode === undefined) return undefined;
	return mode === preferred
		? { mode, reason: `mode: ${mode} (preferred)` }
		: { mode, reason: `mode: ${mode} (descended: ${steps.slice(0, steps.indexOf(mode)).join(", ")} not available)` };
}
