import type { AgentMessage } from "@prime-agent/loop";
import type { CompactionEntry, Entry } from "../../protocol/entry.ts";
import { isCompaction, toMessage } from "../../session/context.ts";
import { estimateTokens } from "./tokens.ts";

/** A message of the branch with the entry that holds it. */
export interface PlacedMessage {
	readonly id: string;
	readonly message: AgentMessage;
}

/** What the model sees now, as a compaction looks at it. */
export interface Conversation {
	/** The compaction that opened the context; its summary goes into the next one. */
	readonly last: (Entry & CompactionEntry) | undefined;
	/** The messages since what it kept, oldest first. */
	readonly messages: readonly PlacedMessage[];
}

/** Where a conversation is cut in two. */
export interface Cut {
	readonly summarised: readonly PlacedMessage[];
	/** Empty when even the newest turn is too large to stay. */
	readonly kept: readonly PlacedMessage[];
}

/** Reads the branch back to the first message that the model still sees. */
export function readConversation(fromLeaf: Iterable<Entry>): Conversation {
	const messages: PlacedMessage[] = [];
	let last: (Entry & CompactionEntry) | undefined;
	let newest = 0;
	for (const entry of fromLeaf) {
		if (!last && isCompaction(entry)) {
			last = entry;
			newest = messages.length;
		}
		const message = toMessage(entry);
		if (message) messages.push({ id: entry.id, message });
		if (entry.id === last?.firstKeptEntryId) return { last, messages: messages.reverse() };
	}
	// What a compaction kept stands before it; where that is lost, nothing before it was kept.
	return { last, messages: (last ? messages.slice(0, newest) : messages).reverse() };
}

/**
 * Chooses what stays word for word: the newest messages that fit into `keepTokens`, but at least those since the last
 * border, unless these are a reply with its results of more than `mostTokens`. Cuts only at borders: before a user
 * message, or before a reply whose predecessors have all their results. Undefined when nothing would be summarised.
 */
export function findCut(messages: readonly PlacedMessage[], keepTokens: number, mostTokens: number): Cut | undefined {
	const borders = listBorders(messages);
	let start = borders.at(-1) ?? 0;
	let tokens = sumTokens(messages, start, messages.length);
	const isTurn = messages[start]?.message.role === "assistant";
	if (isTurn && tokens > mostTokens) return { summarised: messages, kept: [] };
	for (const border of borders.reverse().slice(1)) {
		tokens += sumTokens(messages, border, start);
		if (tokens > keepTokens) break;
		start = border;
	}
	if (start === 0) return undefined;
	return { summarised: messages.slice(0, start), kept: messages.slice(start) };
}

/** The positions before which a conversation may be cut. */
function listBorders(messages: readonly PlacedMessage[]): number[] {
	const borders: number[] = [];
	let open = new Set<string>();
	for (const [index, { message }] of messages.entries()) {
		if (message.role === "toolResult") {
			open.delete(message.toolCallId);
			continue;
		}
		// Calls of an interrupted reply that have no result by the next reply never get one.
		if (open.size === 0 || message.role === "assistant") borders.push(index);
		if (message.role !== "assistant") continue;
		const isBroken = message.stopReason === "error" || message.stopReason === "aborted";
		const calls = isBroken ? [] : message.content.filter((block) => block.type === "toolCall");
		open = new Set(calls.map((call) => call.id));
	}
	return borders;
}

function sumTokens(messages: readonly PlacedMessage[], from: number, to: number): number {
	let tokens = 0;
	for (let i = from; i < to; i++) tokens += estimateTokens(messages[i]!.message);
	return tokens;
}
