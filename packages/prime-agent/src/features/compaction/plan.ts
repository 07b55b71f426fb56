import type { Entry } from "../../protocol/entry.ts";
import type { FeatureHost } from "../../session/host.ts";
import { type Conversation, type Cut, findCut, readConversation } from "./cut.ts";
import type { CompactionLimits } from "./state.ts";
import { textOfUser } from "./texts.ts";
import { estimateAll, measureContext } from "./tokens.ts";

/**
 * Why a compaction happens: a person asked, the model asked from a cell, the context has grown, or a request was too
 * long.
 */
export type CompactionReason = "manual" | "requested" | "threshold" | "overflow";

/** A compaction before its summary is made. */
export interface CompactionPlan {
	readonly cut: Cut;
	/** The compaction before this one. */
	readonly last: Conversation["last"];
	readonly tokensBefore: number;
	/** What the user asked for last, where that does not stay anyway. */
	readonly request: string | undefined;
}

/** A turn of more than this share of what fits is too large to stay. */
const LARGEST_TURN = 0.5;
/** Share of a conversation that may stay, however small it is thought to be: sizes are guesses, and who asks wants less. */
const LARGEST_REST = 0.4;

/** Plans a compaction of the current branch; undefined when there is nothing to summarise. */
export function planCompaction<State>(
	host: FeatureHost<State>,
	reason: CompactionReason,
	limits: CompactionLimits,
): CompactionPlan | undefined {
	const conversation = readConversation(host.fromLeaf());
	const messages = reason === "overflow" ? withoutFailedReply(conversation) : conversation.messages;
	const size = estimateAll(messages.map(({ message }) => message));
	const window = limits.threshold + limits.reserve;
	// A server that refused this much takes less than its model is said to take.
	const fits = reason === "overflow" ? Math.min(window, size) : window;
	const cut = findCut(messages, Math.min(limits.keepRecent, size * LARGEST_REST), fits * LARGEST_TURN);
	if (!cut) return undefined;
	return {
		cut,
		last: conversation.last,
		tokensBefore: measureContext(host.fromLeaf(), host.messages()).tokens,
		request: findRequest(host.fromLeaf(), cut),
	};
}

function withoutFailedReply({ messages }: Conversation): Conversation["messages"] {
	return messages.at(-1)?.message.role === "assistant" ? messages.slice(0, -1) : messages;
}

/** Reads back to what a person said last, however long ago. */
function findRequest(fromLeaf: Iterable<Entry>, { kept }: Cut): string | undefined {
	for (const entry of fromLeaf) {
		const message = entry.type === "message" ? (entry.message as Parameters<typeof textOfUser>[0]) : undefined;
		if (message?.role !== "user") continue;
		return kept.some(({ id }) => id === entry.id) ? undefined : textOfUser(message);
	}
	return undefined;
}
