import type { Duplex, Readable } from "node:stream";
import { ignore } from "../../lib/ignore.ts";
import { signalGroup } from "../../platform/process.ts";
import type { Guardian, GuardianEnd } from "./guardian.ts";

/** How often a process is looked for whose parent cannot say any more that it has ended. */
const LOOK_MS = 20;

/** A guardian that a fork server forked: it is no child of this process. */
export class ForkedGuardian implements Guardian {
	readonly wire: Duplex;
	readonly report: Duplex;
	readonly stderr: Readable;
	readonly exited: Promise<void>;
	readonly closed: Promise<GuardianEnd>;
	readonly #pid: number;
	#hasEnded = false;
	#resolve: () => void = () => undefined;

	constructor(pid: number, lines: Pick<Guardian, "wire" | "report" | "stderr">) {
		this.#pid = pid;
		this.wire = lines.wire;
		this.report = lines.report;
		this.stderr = lines.stderr;
		this.exited = new Promise((resolve) => {
			this.#resolve = resolve;
		});
		const ends = [this.wire, this.report, this.stderr].map(
			(line) => new Promise<void>((resolve) => line.once("close", () => resolve())),
		);
		this.closed = Promise.all([this.exited, ...ends]).then(() => ({}));
	}

	signal(name: NodeJS.Signals, group?: "group"): void {
		if (this.#hasEnded) return;
		if (group) signalGroup(this.#pid, name);
		else this.#send(name);
	}

	/** Its parent says that it has ended. */
	end(): void {
		this.#hasEnded = true;
		this.#resolve();
	}

	/** Its parent is gone: from now on it is looked for. */
	watch(): void {
		const timer = setInterval(() => {
			if (this.#send(0)) return;
			clearInterval(timer);
			this.end();
		}, LOOK_MS);
	}

	/** False when there is no such process any more. */
	#send(signal: NodeJS.Signals | 0): boolean {
		try {
			return process.kill(this.#pid, signal);
		} catch (error) {
			ignore(error, "the process has ended");
			return false;
		}
	}
}
