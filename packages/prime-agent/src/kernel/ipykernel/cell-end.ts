import type { Message } from "../builtin/messages.ts";

/** How long one of the two signs of the end is waited for when the other has come. */
const GRACE_MS = 1000;
/** After a pause of this program, what has arrived meanwhile is read before a cell is given up. */
const READ_FIRST_MS = 100;

/** Knows when a cell is over: its reply and the kernel's word that it is idle have come, in any order. */
export class CellEnd {
	readonly #onEnd: (done: Message) => void;
	readonly #graceMs: number;
	#id = "";
	#cell: unknown;
	#done: Message | undefined;
	#isIdle = false;
	#timer: NodeJS.Timeout | undefined;

	constructor(onEnd: (done: Message) => void, graceMs = GRACE_MS) {
		this.#onEnd = onEnd;
		this.#graceMs = graceMs;
	}

	/** A cell was sent as the request with this id. */
	begin(id: string, cell: unknown): void {
		this.stop();
		this.#id = id;
		this.#cell = cell;
	}

	/** The cell that a message answers, undefined when it is not the running one. */
	cellOf(answers: string): unknown {
		return answers !== "" && answers === this.#id ? this.#cell : undefined;
	}

	/** Takes in an `execute_reply`. */
	takeReply(answers: string, content: Message): void {
		if (this.cellOf(answers) === undefined) return;
		this.#done = readDone(content);
		this.#check();
	}

	/** Takes in the word that the kernel is idle. */
	takeIdle(answers: string): void {
		if (this.cellOf(answers) === undefined) return;
		this.#isIdle = true;
		this.#check();
	}

	/** Waits for nothing any more. */
	stop(): void {
		clearTimeout(this.#timer);
		this.#timer = undefined;
		this.#id = "";
		this.#done = undefined;
		this.#isIdle = false;
	}

	#check(): void {
		if (this.#done && this.#isIdle) this.#finish();
		else {
			this.#timer ??= setTimeout(() => {
				this.#timer = setTimeout(() => this.#finish(), READ_FIRST_MS);
			}, this.#graceMs);
		}
	}

	#finish(): void {
		const done = this.#done ?? unanswered();
		const cell = this.#cell;
		this.stop();
		this.#onEnd({ ...done, cell });
	}
}

function readDone(content: Message): Message {
	const { done, ename, evalue, traceback, status } = content;
	if (typeof done === "object" && done !== null) return done as Message;
	return status === "ok" ? { status } : { status: "error", error: { name: ename, value: evalue, traceback } };
}

function unanswered(): Message {
	const value = "The kernel went idle without an answer to the cell. Its variables are kept; what it printed is above.";
	return { status: "error", error: { name: "KernelError", value, traceback: [] } };
}
