import type { Connection } from "../../connection/connection.ts";
import type { SessionEvent } from "../../protocol/event.ts";
import { type HeadlessPrompt, runHeadless } from "../headless.ts";
import { type Output, write } from "../output.ts";
import { cleanForTerminal, TerminalCleaner } from "../terminal-text.ts";
import { describeEvent } from "./notes.ts";

/** Where print mode writes, and what it may write there. */
export interface PrintOutput {
	readonly output: Output;
	/** The output is a terminal: text appears as it comes, cleaned of what could steer the terminal. */
	readonly isLive: boolean;
	/** Says a line beside the answer, for example on stderr. */
	readonly note: (line: string) => void;
	/** A person watches the notes: say also what the tools do. */
	readonly isWatched: boolean;
}

/**
 * Runs a prompt and prints its answer: to a terminal as it comes, otherwise the last reply at the end, with one
 * newline. Resolves with the reason of a failed run or undefined.
 */
export async function runPrint(
	connection: Connection,
	prompt: HeadlessPrompt,
	print: PrintOutput,
	signal: AbortSignal,
): Promise<string | undefined> {
	const live = new LiveText(print.output);
	const onEvent = (event: SessionEvent) => {
		if (print.isLive) live.show(event);
		const note = describeEvent(event, print.isWatched);
		if (note === undefined) return;
		if (print.isLive) live.endLine();
		print.note(note);
	};
	const { answer, said, failure } = await runHeadless(connection, prompt, onEvent, signal);
	if (print.isLive) live.endLine();
	const text = said ?? (print.isLive ? "" : answer);
	const shown = print.isLive ? cleanForTerminal(text) : text;
	if (shown === "") return failure;
	const lost = await write(print.output, shown.endsWith("\n") ? shown : `${shown}\n`);
	return failure ?? lost;
}

/** Text of replies as it comes. */
class LiveText {
	readonly #output: Output;
	#cleaner = new TerminalCleaner();
	#isLineOpen = false;

	constructor(output: Output) {
		this.#output = output;
	}

	show(event: SessionEvent): void {
		if (event.type === "message_start") this.#cleaner = new TerminalCleaner();
		if (event.type === "message_end") this.endLine();
		if (event.type !== "message_update" || event.assistantMessageEvent.type !== "text_delta") return;
		const text = this.#cleaner.clean(event.assistantMessageEvent.delta);
		if (text === "") return;
		this.#output.write(text);
		this.#isLineOpen = !text.endsWith("\n");
	}

	/** Ends a line that was begun, so that what comes next stands on its own. */
	endLine(): void {
		if (this.#isLineOpen) this.#output.write("\n");
		this.#isLineOpen = false;
	}
}
