import type { Connection } from "../../connection/connection.ts";
import type { SessionEvent } from "../../protocol/event.ts";
import { type HeadlessPrompt, runHeadless } from "../headless.ts";
import { type Output, write } from "../output.ts";
import { toLine } from "./lines.ts";

/**
 * Runs a prompt and writes the session's header and every event as a line of JSON. Resolves when all is written, with
 * the reason of a failed run or undefined.
 */
export async function runJson(
	connection: Connection,
	prompt: HeadlessPrompt,
	output: Output,
	signal: AbortSignal,
): Promise<string | undefined> {
	const { type, version, id, timestamp, cwd, rlmDepth } = connection.header;
	let flushed = writeLine(output, { type, version, id, timestamp, cwd, rlmDepth });
	const waiting = new WaitingTexts();
	const onEvent = (event: SessionEvent) => {
		if (event.type === "session_action_update" && !waiting.hasChanged(event)) return;
		const line = toLine(event);
		if (line) flushed = writeLine(output, line);
	};
	const { said, failure } = await runHeadless(connection, prompt, onEvent, signal);
	if (said !== undefined) onEvent({ type: "notice", level: "info", text: said });
	const lost = await flushed;
	return failure ?? lost;
}

/** Knows whether the texts that wait for delivery changed; the prompt's own way through the queue is no news. */
class WaitingTexts {
	#shown = "[[],[]]";

	hasChanged({ actions }: Extract<SessionEvent, { type: "session_action_update" }>): boolean {
		const texts = JSON.stringify(actions.active ? [actions.steering, actions.followUps] : [[], []]);
		const isNew = texts !== this.#shown;
		this.#shown = texts;
		return isNew;
	}
}

function writeLine(output: Output, value: object): Promise<string | undefined> {
	return write(output, `${JSON.stringify(value)}\n`);
}
