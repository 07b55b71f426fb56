import type { CellChunk, CellError, CellStatus, HostRequestHandler, KernelInfo, MimeBundle } from "../session/ports.ts";

/** What a kernel process says about a cell that has ended. */
export interface CellOutcome {
	readonly status: CellStatus;
	readonly stdout: string;
	readonly stderr: string;
	readonly result?: string;
	readonly displays: readonly MimeBundle[];
	readonly error?: CellError;
	readonly droppedBytes: number;
	/** The names that cells have bound, when they are others than after the cell before. */
	readonly names?: readonly string[];
}

/** How a kernel process ended: one sentence, and its exit code or signal where they are known. */
export interface KernelEnd {
	readonly how: string;
	readonly exitCode?: number;
	readonly signal?: string;
}

/** A process that a kernel had started and that still ran when the kernel ended. */
export interface LeftoverJob {
	readonly pid: number;
	readonly command: string;
}

/** One live kernel process; a back end gives these. Nothing here throws or rejects. */
export interface KernelLink {
	readonly info: KernelInfo;
	/** Runs a cell; `dead` when the process ends under it. One cell at a time. */
	run(code: string, onChunk: (chunk: CellChunk) => void): Promise<CellOutcome>;
	/** Asks the running cell to stop; may be repeated. */
	interrupt(): void;
	/** Ends the kernel process at once. */
	kill(): void;
	/**
	 * Has the kernel save or restore its namespace and gives its answer, fields unchecked; `ended` is true, and `problem`
	 * says how, when the process ended instead.
	 */
	ask(op: "save" | "restore", fields: Readonly<Record<string, unknown>>): Promise<Record<string, unknown>>;
	/** Resolves when the process has ended. */
	readonly ended: Promise<KernelEnd>;
	/** Asks the kernel to end, makes sure it does, and resolves when nothing that it started is left. */
	close(): Promise<void>;
}

/** What a back end needs to start a kernel process. */
export interface LinkOptions {
	readonly cwd: string;
	readonly env: Readonly<Record<string, string>>;
	readonly onRequest: HostRequestHandler;
	/** Called once if the kernel left processes behind; they are being ended. */
	readonly onLeftovers: (jobs: readonly LeftoverJob[]) => void;
	readonly signal: AbortSignal;
}
