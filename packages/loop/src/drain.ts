import type { AssistantMessage, AssistantMessageEvent, AssistantMessageEventStream } from "@earendil-works/pi-ai";
import { abandoned, type Grace, type Patience, startPatience } from "./grace.ts";

/** An event of a reply that is still under way. */
export type PartialEvent = Exclude<AssistantMessageEvent, { type: "done" | "error" }>;

/** How a stream came to its end: properly, left behind after an abort, with an exception, or without any word. */
export type StreamEnd =
	| { kind: "final"; message: AssistantMessage }
	| { kind: "abandoned" }
	| { kind: "failed"; error: unknown }
	| { kind: "silent" };

/**
 * Hands the events of a reply to `onEvent` one by one and answers how it ended; rejects only with what that threw. Once
 * `signal` aborts, the stream has the grace period to come to its end.
 */
export async function drainStream(
	stream: AssistantMessageEventStream,
	signal: AbortSignal | undefined,
	grace: Grace,
	onEvent: (event: PartialEvent) => void | Promise<void>,
): Promise<StreamEnd> {
	// One for the whole stream: a listener for each event of a long reply costs more than the event.
	const patience = startPatience(signal, grace);
	try {
		return await drain(stream, patience, onEvent);
	} finally {
		patience.end();
	}
}

async function drain(
	stream: AssistantMessageEventStream,
	patience: Patience,
	onEvent: (event: PartialEvent) => void | Promise<void>,
): Promise<StreamEnd> {
	const events = stream[Symbol.asyncIterator]();
	for (;;) {
		let next: IteratorResult<AssistantMessageEvent> | typeof abandoned;
		try {
			next = await patience.settle(events.next());
		} catch (error) {
			return { kind: "failed", error };
		}
		if (next === abandoned) return { kind: "abandoned" };
		if (next.done) break;
		if (next.value.type === "done") return { kind: "final", message: next.value.message };
		if (next.value.type === "error") return { kind: "final", message: next.value.error };
		await onEvent(next.value);
	}
	const message = await takeResult(stream);
	return message ? { kind: "final", message } : { kind: "silent" };
}

/** A stream may end by `end(result)` alone; its result is then settled already, or never will be. */
function takeResult(stream: AssistantMessageEventStream): Promise<AssistantMessage | undefined> {
	const nothing = new Promise<undefined>((resolve) => {
		setImmediate(() => resolve(undefined));
	});
	return Promise.race([stream.result(), nothing]);
}
