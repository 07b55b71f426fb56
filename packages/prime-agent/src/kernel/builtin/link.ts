import { ignore } from "../../lib/ignore.ts";
import { signalGroup } from "../../platform/process.ts";
import type { CellChunk, KernelInfo, MimeBundle } from "../../session/ports.ts";
import { HeadTail } from "../headtail.ts";
import { JsonLines } from "../lines.ts";
import type { CellOutcome, KernelEnd, KernelLink, LeftoverJob, LinkOptions } from "../link.ts";
import { within } from "../within.ts";
import type { Guardian } from "./guardian.ts";
import { type Line, type Message, readBundle, readOutcome, text } from "./messages.ts";
import { Requests } from "./requests.ts";
import { sweep } from "./sweep.ts";

const MAX_DISPLAYS = 100;
/** How long a kernel may take to end on request, and the guardian to end what the kernel started. */
const END_MS = 1000;
const REAP_MS = 8000;

interface RunningCell {
	readonly id: number;
	readonly onChunk: (chunk: CellChunk) => void;
	readonly stdout: HeadTail;
	readonly stderr: HeadTail;
	readonly displays: MimeBundle[];
	readonly resolve: (outcome: CellOutcome) => void;
}

/** The process behind a built-in kernel: the guardian, whose child is the kernel. */
export interface BuiltinProcess {
	readonly guardian: Guardian;
	readonly line: Line;
	/** Names the kernel in the environment of all that it starts, and its temporary folder. */
	readonly mark: string;
	/** The last of what the process wrote to its own stderr. */
	readonly complaint: () => string;
}

/** A running built-in kernel after its greeting. */
export class BuiltinLink implements KernelLink {
	readonly info: KernelInfo;
	readonly ended: Promise<KernelEnd>;
	readonly #process: BuiltinProcess;
	readonly #options: LinkOptions;
	readonly #requests: Requests;
	readonly #reaped: Promise<void>;
	#end: (end: KernelEnd) => void = () => undefined;
	/** Who waits for an answer of the kernel, by number. */
	readonly #asked = new Map<number, (answer: Message) => void>();
	#questions = 0;
	#hasEnded = false;
	#hasReport = false;
	#cells = 0;
	#cell: RunningCell | undefined;

	constructor(process: BuiltinProcess, info: KernelInfo, options: LinkOptions) {
		this.info = info;
		this.#process = process;
		this.#options = options;
		this.#requests = new Requests(options.onRequest, (message) => this.#send(message));
		const { promise, resolve } = Promise.withResolvers<KernelEnd>();
		this.ended = promise;
		this.#end = (end) => {
			if (this.#hasEnded) return;
			this.#hasEnded = true;
			this.#requests.stop();
			this.#cell?.resolve(this.#deadOutcome(this.#cell, end.how));
			this.#cell = undefined;
			for (const answer of this.#asked.values()) answer({ ended: true, problem: end.how });
			this.#process.line.close();
			resolve(end);
		};
		this.#reaped = process.guardian.closed.then(() => undefined);
		this.#listen();
	}

	run(code: string, onChunk: (chunk: CellChunk) => void): Promise<CellOutcome> {
		const { promise, resolve } = Promise.withResolvers<CellOutcome>();
		this.#cells += 1;
		const cell: RunningCell = {
			id: this.#cells,
			onChunk,
			stdout: new HeadTail(),
			stderr: new HeadTail(),
			displays: [],
			resolve,
		};
		if (this.#hasEnded) {
			resolve(this.#deadOutcome(cell, "The kernel had ended before the cell began."));
			return promise;
		}
		this.#cell = cell;
		this.#send({ op: "execute", cell: cell.id, code });
		return promise;
	}

	ask(op: "save" | "restore", fields: Readonly<Message>): Promise<Message> {
		const { promise, resolve } = Promise.withResolvers<Message>();
		if (this.#hasEnded) {
			resolve({ ended: true, problem: "The kernel had ended." });
			return promise;
		}
		this.#questions += 1;
		this.#asked.set(this.#questions, resolve);
		this.#send({ ...fields, op, id: this.#questions });
		return promise;
	}

	interrupt(): void {
		if (!this.#cell) return;
		this.#send({ op: "interrupt", cell: this.#cell.id });
		// the group, so that children which the cell waits for hear it too
		signalGroup(this.info.pid, "SIGINT");
	}

	kill(): void {
		if (!this.#hasEnded) signalGroup(this.info.pid, "SIGKILL");
	}

	async close(): Promise<void> {
		this.#send({ op: "shutdown" });
		if (
			!(await within(
				this.ended.then(() => true),
				END_MS,
				false,
			))
		)
			this.kill();
		// a cell may have stopped it
		this.#process.guardian.signal("SIGCONT");
		if (
			!(await within(
				this.#reaped.then(() => true),
				REAP_MS,
				false,
			))
		) {
			this.#process.guardian.signal("SIGKILL");
			await within(this.#reaped, END_MS, undefined);
		}
		// its work when it could not do it
		if (!this.#hasReport) await this.#sweep();
	}

	async #sweep(): Promise<void> {
		const jobs = await sweep(this.#process.mark, this.#options.env.TMPDIR || "/tmp");
		if (jobs.length > 0) this.#options.onLeftovers(jobs);
	}

	#listen(): void {
		const { line, guardian } = this.#process;
		const { report } = guardian;
		line.listen(
			(message) => this.#receive(message),
			(reason) => {
				this.kill();
				this.#end({ how: `The kernel was ended because ${reason}.` });
			},
		);
		const reports = new JsonLines(
			(message) => this.#takeReport(message),
			(reason) => ignore(new Error(reason), "the end of the guardian says enough"),
		);
		report.on("data", (data: Buffer) => reports.push(data));
		report.on("error", (error) => ignore(error, "the guardian has ended"));
		// without its guardian the kernel must not go on
		void guardian.exited.then(() => this.kill());
		// after all that the guardian reported has been read
		report.once("close", () => {
			this.kill();
			setImmediate(() => this.#end({ how: "The kernel was killed from outside." }));
		});
	}

	#takeReport(message: Message): void {
		// what the kernel complained about was written before, but may be read after
		if ("exit" in message) {
			this.#hasReport = true;
			setImmediate(() => this.#end(describeEnd(message.exit, message.signal, this.#process.complaint())));
		}
		if (Array.isArray(message.jobs)) this.#options.onLeftovers(message.jobs.map(readJob));
	}

	#receive(message: Message): void {
		const cell = this.#cell?.id === message.cell ? this.#cell : undefined;
		if (message.op === "request") this.#requests.begin(message);
		else if (message.op === "cancel") this.#requests.cancel(message);
		else if (message.op === "answer") this.#takeAnswer(message);
		else if (message.op === "chunk" && this.#cell) this.#takeChunk(this.#cell, message);
		else if (message.op === "display" && cell) {
			const bundle = readBundle(message.bundle);
			if (bundle && cell.displays.length < MAX_DISPLAYS) cell.displays.push(bundle);
		} else if (message.op === "done" && cell) {
			this.#cell = undefined;
			cell.resolve(readOutcome(message, cell.displays));
		}
	}

	#takeAnswer(message: Message): void {
		const id = Number(message.id);
		this.#asked.get(id)?.(message);
		this.#asked.delete(id);
	}

	#takeChunk(cell: RunningCell, message: Message): void {
		const stream = message.stream === "stderr" ? "stderr" : "stdout";
		const chunk: CellChunk = { stream, text: text(message.text) };
		cell[stream].add(chunk.text);
		cell.onChunk(chunk);
	}

	#deadOutcome(cell: RunningCell, reason: string): CellOutcome {
		return {
			status: "dead",
			stdout: String(cell.stdout),
			stderr: String(cell.stderr),
			displays: cell.displays,
			error: { name: "KernelDied", value: reason, traceback: [] },
			droppedBytes: 0,
		};
	}

	#send(message: Message): void {
		if (!this.#hasEnded) this.#process.line.send(message);
	}
}

function describeEnd(code: unknown, signal: unknown, complaint: string): KernelEnd {
	const how = typeof signal === "string" ? `was killed by ${signal}` : `ended with exit code ${String(code)}`;
	const known = shorten(complaint);
	return {
		how: `The kernel process ${how}.${known ? `\n${known}` : ""}`,
		...(typeof code === "number" ? { exitCode: code } : {}),
		...(typeof signal === "string" ? { signal } : {}),
	};
}

/** A crash report without the frames that lie outside the cells. */
function shorten(complaint: string): string {
	const lines = complaint
		.split("\n")
		.filter((line) => line !== "" && (!line.startsWith("  File ") || line.includes('"<cell ')));
	return lines.slice(-20).join("\n");
}

function readJob(value: unknown): LeftoverJob {
	const { pid, command } = value as Message;
	return { pid: Number(pid), command: text(command) };
}
