import type { Readable } from "node:stream";
import type { ApprovalAnswer, AskApproval } from "@prime-agent/toolset";
import { shortenSubject, showSigns, toOneLine } from "./output.ts";

/** Reads whole lines from a terminal; what is typed while nobody waits is dropped, so that it answers no question. */
export class LineReader {
	readonly #input: Readable;
	#rest = "";
	#hasEnded = false;
	#waiting: ((line: string | undefined) => void) | undefined;

	constructor(input: Readable) {
		this.#input = input;
		input.setEncoding("utf8");
		input.on("data", (text: string) => this.#take(text));
		input.on("end", () => this.#end());
		// A terminal that was closed reads as an error.
		input.on("error", () => this.#end());
	}

	/** The next line; `undefined` at the end of the input and when `signal` aborts. One call at a time. */
	next(signal: AbortSignal | undefined): Promise<string | undefined> {
		if (this.#hasEnded || signal?.aborted) return Promise.resolve(undefined);
		this.#rest = "";
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

	/** Lets go of the input. */
	close(): void {
		this.#end();
		this.#input.pause();
	}

	#take(text: string): void {
		this.#rest += text;
		const end = this.#rest.indexOf("\n");
		if (end < 0) return;
		const line = this.#rest.slice(0, end);
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
		write(`Agent wants to run ${toOneLine(label)}: ${shortenSubject(subject)}\n${showWhole(subject)}`);
		for (;;) {
			write("Allow? [y]es / [n]o / [a]lways ");
			const line = await reader.next(signal);
			if (line === undefined) {
				write("\n");
				return "no";
			}
			const answer = answers[line.trim().toLowerCase()];
			if (answer) return answer;
		}
	};
}
