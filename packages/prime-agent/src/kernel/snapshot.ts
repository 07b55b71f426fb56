import { existsSync } from "node:fs";
import { chmod, rename, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { ignore } from "../lib/ignore.ts";
import { errorText } from "../lib/text.ts";
import { makeFolder } from "../platform/folder.ts";
import type { KernelEvent } from "../session/ports.ts";
import type { SnapshotLimits } from "./limits.ts";
import type { KernelLink } from "./link.ts";
import { type RestoreReport, readRestored, readSaved } from "./snapshot-report.ts";
import { within } from "./within.ts";

/** A kernel that is idle for so long is saved, and one whose cells leave no such pause after this time at the latest. */
const IDLE_MS = 250;
const OVERDUE_MS = 10_000;
/** Saving takes at most this part of the time, so that a large namespace does not keep the machine busy. */
const SHARE = 10;
/** How long a kernel may take to restore; what is loaded is code and may hang. */
const RESTORE_MS = 30_000;

/** So many variables may end the process that saves them before it is given up for this time. */
const MAX_ATTEMPTS = 8;

/** Where snapshots go and who hears of them. */
export interface SnapshotOptions {
	/** The file; its folder is made when the first snapshot is taken. */
	readonly path: string;
	/** Where the kernel begins; cells that changed to another folder find themselves there again only from the same one. */
	readonly cwd: string;
	readonly onEvent: (event: KernelEvent) => void;
	readonly limits: SnapshotLimits;
	readonly restoreMs?: number | undefined;
}

/** What became of an attempt to restore. `fatal`: the kernel did not survive it, or hangs in it. */
export interface Restored extends RestoreReport {
	readonly fatal: boolean;
	/** Cells that began after the snapshot was taken. */
	readonly behind: number | "unknown";
}

/** Snapshots of one namespace: taken in pauses between cells and at the end, restored into the next kernel. */
export class Snapshots {
	readonly #options: SnapshotOptions;
	/** Exists while cells have run that the snapshot does not know. */
	readonly #marker: string;
	#marking: Promise<void> = Promise.resolve();
	/** Cells that have begun, and how many of them the snapshot knows. */
	#begun = 0;
	#known = 0;
	/** When the oldest change that is not saved was made; when the next snapshot may begin. */
	#dirtySince = 0;
	#notBefore = 0;
	#isCell = false;
	/** The kernel that can be saved. */
	#link: KernelLink | undefined;
	#hasRun = false;
	#isOff = false;
	#timer: NodeJS.Timeout | undefined;
	#saving: Promise<void> | undefined;

	constructor(options: SnapshotOptions) {
		this.#options = options;
		this.#marker = `${options.path}.behind`;
	}

	/** A cell begins. */
	beginCell(): void {
		clearTimeout(this.#timer);
		this.#isCell = true;
		if (this.#begun === this.#known) {
			this.#dirtySince = performance.now();
			this.#mark(() => this.#write());
		}
		this.#begun += 1;
	}

	/** A cell has ended. */
	endCell(): void {
		this.#isCell = false;
		this.#schedule();
	}

	/** The kernel that was restored has ended. */
	lose(): void {
		this.#link = undefined;
		clearTimeout(this.#timer);
	}

	/** Loads the snapshot into a new kernel; undefined when there is none, or when nobody wants the kernel any more. */
	async restore(link: KernelLink, signal: AbortSignal): Promise<Restored | undefined> {
		const { path, cwd, restoreMs = RESTORE_MS } = this.#options;
		const behind = this.#hasRun ? this.#begun - this.#known : existsSync(this.#marker) ? "unknown" : 0;
		this.#hasRun = true;
		this.#link = link;
		// nothing has changed in this kernel so far
		this.#known = this.#begun;
		if (!existsSync(path)) return undefined;
		const answer = await within(link.ask("restore", { path, cwd }), restoreMs, undefined);
		if (signal.aborted) return undefined;
		this.#unmark();
		const report = readRestored(answer ?? { problem: `restoring took longer than ${restoreMs / 1000} s` });
		const fatal = answer === undefined || answer.ended === true;
		if (report.problem !== undefined) await this.#setAside();
		return { ...report, fatal, behind };
	}

	/** Takes a snapshot of what is not saved yet; false when it takes longer than that, and goes on. */
	async save(withinMs: number): Promise<boolean> {
		clearTimeout(this.#timer);
		const last = (async () => {
			await this.#saving;
			await this.#save();
			return true;
		})();
		return within(last, withinMs, false);
	}

	/** Takes a last snapshot, and waits for it. */
	async close(withinMs: number): Promise<void> {
		if (!(await this.save(withinMs))) {
			this.#tellFailure(`the program ended before it was written (${Math.round(withinMs / 100) / 10} s)`);
		}
		this.#isOff = true;
		await this.#marking;
	}

	get #isClean(): boolean {
		return this.#isOff || !this.#link || this.#begun === this.#known;
	}

	#schedule(): void {
		clearTimeout(this.#timer);
		if (this.#isClean || this.#isCell || this.#saving) return;
		const now = performance.now();
		const wait = Math.max(now - this.#dirtySince > OVERDUE_MS ? 0 : IDLE_MS, this.#notBefore - now);
		if (wait === 0) void this.#save();
		else this.#timer = setTimeout(() => void this.#save(), wait).unref();
	}

	#save(): Promise<void> {
		const link = this.#link;
		if (!link || this.#isClean || this.#isCell) return Promise.resolve();
		this.#saving ??= this.#ask(link).finally(() => {
			this.#saving = undefined;
			this.#schedule();
		});
		return this.#saving;
	}

	async #ask(link: KernelLink): Promise<void> {
		const { path, cwd, limits, onEvent } = this.#options;
		const began = performance.now();
		const cells = this.#begun;
		try {
			makeFolder(dirname(path));
			// it may be older; what others could write to would not be read again
			await chmod(dirname(path), 0o700);
		} catch (error) {
			this.#isOff = true;
			this.#tellFailure(errorText(error));
			return;
		}
		const order = { path, cwd, limits };
		let report = readSaved(await link.ask("save", order));
		for (let attempt = 1; report.kind === "again" && attempt < MAX_ATTEMPTS; attempt += 1) {
			report = readSaved(await link.ask("save", order));
		}
		const now = performance.now();
		this.#notBefore = now + (now - began) * SHARE;
		if (report.kind === "failed") this.#tellFailure(report.problem);
		if (report.kind === "again") this.#tellFailure("too many variables end the process that saves them");
		if (report.kind !== "saved") return;
		this.#known = cells;
		this.#dirtySince = now;
		if (this.#begun === cells) this.#unmark();
		const { saved, unsaved, bytes } = report;
		const durationMs = Math.round(now - began);
		onEvent({ type: "saved", names: saved, unsaved, bytes, durationMs, behind: this.#begun - cells });
	}

	#tellFailure(reason: string): void {
		this.#options.onEvent({ type: "save_failed", reason });
	}

	/** What could not be read may still be worth something to a person, so nothing is written over it. */
	async #setAside(): Promise<void> {
		const { path } = this.#options;
		try {
			await rename(path, `${path}.unread`);
		} catch (error) {
			this.#isOff = true;
			this.#tellFailure(`the old one cannot be read nor set aside: ${errorText(error)}`);
		}
	}

	async #write(): Promise<void> {
		makeFolder(dirname(this.#marker));
		await writeFile(this.#marker, "", { mode: 0o600 });
	}

	#unmark(): void {
		this.#mark(() => rm(this.#marker, { force: true }));
	}

	/** One after the other. */
	#mark(change: () => Promise<void>): void {
		this.#marking = this.#marking
			.then(change)
			.catch((error) => ignore(error, "without the mark a later kernel is told less exactly what is missing"));
	}
}
