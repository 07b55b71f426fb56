import type { Message } from "@earendil-works/pi-ai";

/**
 * What is wrong with the pairing of calls and results in a transcript, in words, or `undefined`. Every call has exactly
 * one result, before the next message that is no result; an answer that failed or was aborted stands for no calls.
 */
export function findPairingFault(messages: readonly Message[]): string | undefined {
	let open = new Map<string, string>();
	const seen = new Set<string>();
	for (const [index, message] of messages.entries()) {
		if (message.role === "toolResult") {
			if (!open.delete(message.toolCallId)) {
				const known = seen.has(message.toolCallId);
				return `messages[${index}]: ${known ? "second or late result" : "result without a call"} for ${message.toolCallId}`;
			}
			continue;
		}
		const missing = [...open.keys()][0];
		if (missing !== undefined) return `messages[${index}]: call ${missing} has no result`;
		if (message.role !== "assistant") continue;
		if (message.stopReason === "error" || message.stopReason === "aborted") continue;
		open = new Map();
		for (const part of message.content) {
			if (part.type !== "toolCall") continue;
			if (seen.has(part.id)) return `messages[${index}]: call id ${part.id} is used twice`;
			seen.add(part.id);
			open.set(part.id, part.name);
		}
	}
	const missing = [...open.keys()][0];
	return missing === undefined ? undefined : `call ${missing} has no result`;
}
