import type { Readable } from "node:stream";
import type { ApprovalAnswer, AskApproval } from "@prime-agent/toolset";
import { shortenSubject, showSigns, toOneLine } from "./output.ts";

/**
 * Reads whole lines from a terminal, and only between `open` and `pause`: a program in the background that reads is
 * stopped by the system.
 */
export class LineReader {
	readonly #input: Readable;
	readonly #discard: () => void;
	#rest = "";
	#hasEnded = false;
	#waiting: ((line: string | undefined) => void) | undefined;

	/** `discard` drops what the system holds of the input. */
	constructor(input: Readable, discard: () => void) {
		this.#input = input;
		this.#discard = discard;
		input.setEncoding("utf8");
	}

	/** Starts reading and drops what was typed before, so that it answers no question. */
	async open(): Promise<void> {
		this.#discard();
		if (this.#input.listenerCount("data") === 0) {
			this.#input.on("data", (text: string) => this.#take(text));
			this.#input.on("end", () => this.#end());
			// A terminal that was closed reads as an error.
			this.#input.on("error", () => this.#end());
		}
		this.#input.resume();
		// What the stream itself holds comes at once.
		await new Promise((resolve) => setImmediate(resolve));
		this.#rest = "";
	}

	/** The next line; `undefined` at the end of the input and when `signal` aborts. One call at a time. */
	next(signal: AbortSignal | undefined): Promise<string | undefined> {
		if (this.#hasEnded || signal?.aborted) return Promise.resolve(undefined);
		return new Promise((resolve) => {
			const finish = (line: string | undefined) => {
				this.#waiting = undefined;
				signal?.removeEventListener("abort", stop);
				resolve(line);
			};
			const stop = () => finish(undefined);
			signal?.addEventListener("abort", stop, { once: true });
			this.#waiting = finish;
		});
	}

	/** Stops reading until the next `open`. */
	pause(): void {
		this.#input.pause();
	}

	#take(text: string): void {
		this.#rest += text;
		const end = this.#rest.indexOf("\n");
		if (end < 0) return;
		const line = this.#rest.slice(0, end);
		// Further lines were typed without having seen the next question.
		this.#rest = "";
		this.#waiting?.(line);
	}

	#end(): void {
		this.#hasEnded = true;
		this.#waiting?.(undefined);
	}
}

const answers: Record<string, ApprovalAnswer> = {
	y: "yes",
	yes: "yes",
	n: "no",
	no: "no",
	a: "always",
	always: "always",
};

/** The whole subject below its one line, where that line leaves something out. */
function showWhole(subject: string): string {
	if (subject === shortenSubject(subject)) return "";
	const lines = subject.split("\n").map((line) => `  | ${showSigns(line)}\n`);
	return lines.join("");
}

/** Asks for approval with `write` and reads the answer; the end of the input means no. */
export function createApproval(reader: LineReader, write: (text: string) => void): AskApproval {
	return async ({ label, subject }, signal) => {
		await reader.open();
		write(`Agent wants to run ${toOneLine(label)}: ${shortenSubject(subject)}\n${showWhole(subject)}`);
		try {
			return await readAnswer(reader, write, signal);
		} finally {
			reader.pause();
		}
	};
}

async function readAnswer(
	reader: LineReader,
	write: (text: string) => void,
	signal: AbortSignal | undefined,
): Promise<ApprovalAnswer> {
	for (;;) {
		const next = reader.next(signal);
		write("Allow? [y]es / [n]o / [a]lways ");
		const line = await next;
		if (line === undefined) {
			write("\n");
			return "no";
		}
		const answer = answers[line.trim().toLowerCase()];
		if (answer) return answer;
	}
}
