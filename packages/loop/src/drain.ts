import type { AssistantMessage, AssistantMessageEvent, AssistantMessageEventStream } from "@earendil-works/pi-ai";
import { abandoned, type Grace, settleOrAbandon } from "./grace.ts";

/** An event of a reply that is still under way. */
export type PartialEvent = Exclude<AssistantMessageEvent, { type: "done" | "error" }>;

/** How a stream came to its end: properly, left behind after an abort, with an exception, or without any word. */
export type StreamEnd =
	| { kind: "final"; message: AssistantMessage }
	| { kind: "abandoned" }
	| { kind: "failed"; error: unknown }
	| { kind: "silent" };

/** Hands the events of a reply to `onEvent` one by one and answers how it ended; rejects only with what that threw. */
export async function drainStream(
	stream: AssistantMessageEventStream,
	signal: AbortSignal | undefined,
	grace: Grace,
	onEvent: (event: PartialEvent) => void | Promise<void>,
): Promise<StreamEnd> {
	const events = stream[Symbol.asyncIterator]();
	for (;;) {
		let next: IteratorResult<AssistantMessageEvent> | typeof abandoned;
		try {
			next = await settleOrAbandon(events.next(), signal, grace);
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
