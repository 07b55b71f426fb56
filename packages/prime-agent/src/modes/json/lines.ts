import type { SessionEvent } from "../../protocol/event.ts";

type MessageUpdate = Extract<SessionEvent, { type: "message_update" }>;

/**
 * What JSON mode prints for an event, or undefined for nothing. Updates leave out the message so far: it would make
 * the output grow with the square of the answer; the whole message comes with its end.
 */
export function toLine(event: SessionEvent): object | undefined {
	switch (event.type) {
		case "entry_appended":
			return undefined;
		case "feature_event":
			return { type: event.name, ...event.data };
		case "message_update":
			return { type: event.type, assistantMessageEvent: withoutMessage(event.assistantMessageEvent) };
		default:
			return event;
	}
}

function withoutMessage(update: MessageUpdate["assistantMessageEvent"]): object {
	const { partial: _partial, message: _message, error: _error, ...rest } = update as unknown as Record<string, unknown>;
	return rest;
}
