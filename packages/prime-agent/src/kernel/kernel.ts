import { ignore } from "../lib/ignore.ts";
import type {
	CellOptions,
	CellResult,
	ClockPort,
	HostRequestHandler,
	KernelEvent,
	KernelInfo,
	KernelPort,
	KernelRestart,
} from "../session/ports.ts";
import { KernelClosed } from "./errors.ts";
import { pause, stopCell } from "./escalation.ts";
import type { CellOutcome, KernelEnd, KernelLink, LeftoverJob, LinkOptions } from "./link.ts";
import { makeRestart } from "./restart.ts";
import { type Restored, type SnapshotOptions, Snapshots } from "./snapshot.ts";
import type { StandIn } from "./stand-in.ts";

/** What the start of a kernel process is given; `onStandIn` hears why it is not the one that was meant to serve. */
export interface StartOptions extends Pick<LinkOptions, "onRequest" | "onLeftovers" | "signal"> {
	readonly onStandIn: (standIn: StandIn) => void;
}

/** What a queued kernel is made of. */
export interface QueuedKernelOptions {
	/** Starts one kernel process. */
	readonly start: (options: StartOptions) => Promise<KernelLink>;
	readonly clock: ClockPort;
	readonly cellTimeoutMs: number;
	/** How long a cell may ignore an interrupt before its kernel is killed. */
	readonly interruptGraceMs: number;
	readonly onLeftovers: (jobs: readonly LeftoverJob[]) => void;
	/** Without it variables live as long as their kernel. */
	readonly snapshots?: Omit<SnapshotOptions, "onEvent"> | undefined;
	/** False: `prewarm` does nothing. */
	readonly startsAhead: boolean;
	/** Lets go of what is shared with other kernels; called once, when this one has been closed. */
	readonly release: () => Promise<void>;
	/** How long the end may wait for a last snapshot. */
	readonly closeMs: () => number;
}

/** How long somebody may wait for a snapshot while the kernel lives on. */
const SAVE_MS = 1000;

type StopReason = "interrupted" | "timeout";

/** Cells one at a time over a kernel process that is started when needed and replaced when it has ended. */
export class QueuedKernel implements Omit<KernelPort, "leftOut"> {
	readonly #options: QueuedKernelOptions;
	readonly #closing = new AbortController();
	#handler: HostRequestHandler | undefined;
	#starting: Promise<KernelLink> | undefined;
	#link: KernelLink | undefined;
	readonly #snapshots: Snapshots | undefined;
	#onEvent: (event: KernelEvent) => void = () => undefined;
	/** How long the last save was waited for. */
	#savedMs = 0;
	/** How the last kernel ended, and the names that it had. */
	#ended: KernelEnd | undefined;
	#names: readonly string[] = [];
	/** What the next cell is to be told. */
	#restart: KernelRestart | undefined;
	/** Ended kernels whose leftovers are still being ended. */
	readonly #reaping = new Set<Promise<void>>();
	#last: Promise<unknown> = Promise.resolve();
	#disposed: Promise<void> | undefined;

	constructor(options: QueuedKernelOptions) {
		this.#options = options;
		this.#snapshots =
			options.snapshots && new Snapshots({ ...options.snapshots, onEvent: (event) => this.#onEvent(event) });
	}

	prewarm(): void {
		if (this.#disposed || !this.#options.startsAhead) return;
		this.#connect().catch((error) => ignore(error, "the next cell starts the kernel anew and reports what is wrong"));
	}

	serve(handler: HostRequestHandler): void {
		this.#handler = handler;
	}

	watch(listener: (event: KernelEvent) => void): void {
		this.#onEvent = listener;
	}

	async save(): Promise<void> {
		const began = performance.now();
		await this.#snapshots?.save(Math.min(SAVE_MS, this.#options.closeMs()));
		this.#savedMs = performance.now() - began;
	}

	info(): KernelInfo | undefined {
		return this.#link?.info;
	}

	async execute(code: string, options: CellOptions = {}): Promise<CellResult> {
		const began = performance.now();
		const turn = this.#last;
		const { promise: done, resolve: release } = Promise.withResolvers<void>();
		this.#last = turn.then(() => done);
		try {
			if (await isAbortedBefore(turn, options.signal)) return neverRan(began);
			return await this.#runCell(code, options, began);
		} finally {
			release();
		}
	}

	dispose(): Promise<void> {
		this.#disposed ??= this.#close();
		return this.#disposed;
	}

	async #close(): Promise<void> {
		// whoever ends a program has waited for the save before as well
		await this.#snapshots?.close(Math.max(0, this.#options.closeMs() - this.#savedMs));
		this.#closing.abort(new KernelClosed());
		const link = this.#link ?? (await this.#starting?.catch((error) => ignore(error, "closing needs no kernel")));
		await link?.close();
		await Promise.all(this.#reaping);
		await this.#options.release();
	}

	async #runCell(code: string, options: CellOptions, began: number): Promise<CellResult> {
		if (this.#disposed) throw new KernelClosed();
		if (!this.#link) options.onStatus?.("starting");
		if (await isAbortedBefore(this.#connect(), options.signal)) return neverRan(began);
		const link = await this.#connect();
		const restart = this.#restart;
		this.#restart = undefined;
		options.onStatus?.("running");
		this.#snapshots?.beginCell();
		const { names, ...outcome } = await this.#watch(link, code, options);
		this.#snapshots?.endCell();
		// a kernel says its names when they are others than before
		if (names ?? (restart && this.#link)) this.#names = names ?? [];
		const kernelRestarted = restart !== undefined;
		return { ...outcome, durationMs: performance.now() - began, kernelRestarted, ...(restart ? { restart } : {}) };
	}

	/** Runs the cell under its time limit and the caller's signal. */
	async #watch(link: KernelLink, code: string, options: CellOptions): Promise<CellOutcome> {
		const { clock, cellTimeoutMs, interruptGraceMs } = this.#options;
		const over = new AbortController();
		let reason: StopReason | undefined;
		let killed = false;
		const stop = async (why: StopReason) => {
			if (reason || over.signal.aborted) return;
			reason = why;
			killed = (await stopCell(link, clock, interruptGraceMs, over.signal)) === "killed";
		};
		const onAbort = () => void stop("interrupted");
		options.signal?.addEventListener("abort", onAbort, { once: true });
		void pause(clock, cellTimeoutMs, over.signal).then(() => stop("timeout"));
		try {
			const outcome = await link.run(code, (chunk) => options.onChunk?.(chunk));
			return reason ? explain(outcome, reason, killed, this.#options) : outcome;
		} finally {
			// with a reason of its own: the error that Node makes up without one would cost more than the limit
			over.abort("The cell has ended.");
			options.signal?.removeEventListener("abort", onAbort);
		}
	}

	/** The live kernel process, started first when there is none. */
	#connect(): Promise<KernelLink> {
		this.#starting ??= this.#start();
		return this.#starting;
	}

	async #start(): Promise<KernelLink> {
		try {
			const { link, restored } = await this.#open();
			this.#restart = makeRestart({ ended: this.#ended, names: this.#names, restored });
			this.#link = link;
			void link.ended.then((end) => {
				this.#link = undefined;
				this.#starting = undefined;
				this.#ended = end;
				this.#snapshots?.lose();
				const reaped = link.close().finally(() => this.#reaping.delete(reaped));
				this.#reaping.add(reaped);
				if (!this.#disposed) this.#onEvent({ type: "ended", ...end });
			});
			return link;
		} catch (error) {
			this.#starting = undefined;
			throw error;
		}
	}

	/** A new kernel with what the snapshot holds; a snapshot that ends or holds it is left out for the next one. */
	async #open(): Promise<{ readonly link: KernelLink; readonly restored: Restored | undefined }> {
		const { start, onLeftovers } = this.#options;
		const { signal } = this.#closing;
		const onRequest: HostRequestHandler = (type, payload, stop) => this.#answer(type, payload, stop);
		const onStandIn = (standIn: StandIn) => this.#onEvent({ type: "stands_in", ...standIn });
		const starting = { onRequest, onLeftovers, signal, onStandIn };
		const link = await start(starting);
		const kill = () => link.kill();
		signal.addEventListener("abort", kill, { once: true });
		const restored = await this.#snapshots?.restore(link, signal);
		signal.removeEventListener("abort", kill);
		if (!restored?.fatal && !signal.aborted) return { link, restored };
		link.kill();
		await link.close();
		signal.throwIfAborted();
		return { link: await start(starting), restored };
	}

	async #answer(type: string, payload: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<unknown> {
		if (!this.#handler) throw new Error(`Nobody answers ${type} here.`);
		return await this.#handler(type, payload, signal);
	}
}

/** Waits for something that has to come first; true when the caller gave up before it came. */
async function isAbortedBefore(turn: Promise<unknown>, signal: AbortSignal | undefined): Promise<boolean> {
	if (!signal) {
		await turn;
		return false;
	}
	const { promise: aborted, resolve } = Promise.withResolvers<void>();
	const onAbort = () => resolve();
	signal.addEventListener("abort", onAbort, { once: true });
	if (signal.aborted) return true;
	await Promise.race([turn, aborted]);
	signal.removeEventListener("abort", onAbort);
	return signal.aborted;
}

function neverRan(began: number): CellResult {
	return {
		status: "interrupted",
		stdout: "",
		stderr: "",
		displays: [],
		error: { name: "KeyboardInterrupt", value: "The cell was called off before it began.", traceback: [] },
		durationMs: performance.now() - began,
		kernelRestarted: false,
		droppedBytes: 0,
	};
}

/** A cell that was stopped from here: why, and what became of the kernel. */
function explain(outcome: CellOutcome, reason: StopReason, killed: boolean, options: QueuedKernelOptions): CellOutcome {
	// it may have ended by itself just before it was asked
	if (outcome.status === "ok") return outcome;
	const why =
		reason === "timeout" ? `The cell ran longer than ${seconds(options.cellTimeoutMs)}` : "The cell was interrupted";
	const gone = options.snapshots ? "" : ": all variables are gone";
	const then = killed
		? ` and ignored the interrupt for ${seconds(options.interruptGraceMs)}, so its kernel was killed${gone}.`
		: outcome.status === "dead"
			? `, and its kernel ended${gone}. ${outcome.error?.value ?? ""}`
			: reason === "timeout"
				? " and was interrupted. Variables are kept. Run long work in the background and look at it from later cells."
				: ". Variables are kept.";
	return {
		...outcome,
		status: reason,
		error: {
			name: reason === "timeout" ? "TimeoutError" : "KeyboardInterrupt",
			value: why + then,
			traceback: outcome.error?.traceback ?? [],
		},
	};
}

function seconds(ms: number): string {
	return ms % 60_000 === 0 && ms > 0 ? `${ms / 60_000} min` : `${ms / 1000} s`;
}
