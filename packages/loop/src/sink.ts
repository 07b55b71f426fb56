import type { AgentEvent, AgentEventSink } from "./types.ts";

/** Hands events to `sink` one after the other, in the order of the calls, also when several callers do not wait. */
export function serializeSink(sink: AgentEventSink): (event: AgentEvent) => Promise<void> {
	let last: Promise<void> = Promise.resolve();
	return (event) => {
		last = last.then(() => sink(event));
		// A caller may look at its promise only later; until then a failure must not count as unhandled.
		last.catch(() => undefined);
		return last;
	};
}
