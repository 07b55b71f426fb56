import type { AssistantMessage, Usage } from "@earendil-works/pi-ai";
import type { AgentMessage } from "@prime-agent/loop";
import type { Entry } from "../../protocol/entry.ts";
import { isCompaction, toMessage } from "../../session/context.ts";

/** What an image costs about, whatever its bytes: providers scale pictures down to about this. */
const IMAGE_TOKENS = 1_200;
/** Bytes of UTF-8 to a token: about right for English and code, and not far off for scripts with longer characters. */
const BYTES_PER_TOKEN = 4;

/** Tokens of the request that a reply answered and of the reply itself; 0 when the server does not count. */
export function usedTokens({ input, output, cacheRead, cacheWrite }: Usage): number {
	return input + output + cacheRead + cacheWrite;
}

/** A guess at the tokens of a message. */
export function estimateTokens(message: AgentMessage): number {
	const { content } = message;
	if (typeof content === "string") return tokensOfText(content);
	let tokens = 0;
	for (const block of content) {
		if (block.type === "image") tokens += IMAGE_TOKENS;
		else if (block.type === "text") tokens += tokensOfText(block.text);
		else if (block.type === "thinking") tokens += tokensOfText(block.thinking);
		else if (block.type === "toolCall") tokens += tokensOfText(block.name + JSON.stringify(block.arguments));
	}
	return tokens;
}

/** A guess at the tokens of several messages. */
export function estimateAll(messages: readonly AgentMessage[]): number {
	return messages.reduce((sum, message) => sum + estimateTokens(message), 0);
}

function tokensOfText(text: string): number {
	return Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN);
}

/** How large a context is. */
export interface ContextSize {
	readonly tokens: number;
	/** False when no reply has come since the last compaction: the size is a guess. */
	readonly isMeasured: boolean;
}

/**
 * Measures a context: what the provider counted for the newest reply, and a guess for what came after it. Where nothing
 * was counted, `messages` are guessed as a whole. Reads the branch from its leaf back to the newest reply.
 */
export function measureContext(fromLeaf: Iterable<Entry>, messages: readonly AgentMessage[]): ContextSize {
	let tail = 0;
	for (const entry of fromLeaf) {
		if (isCompaction(entry)) return { tokens: estimateAll(messages), isMeasured: false };
		const message = toMessage(entry);
		if (!message) continue;
		if (isReply(message)) {
			const used = usedTokens(message.usage);
			return { tokens: used > 0 ? used + tail : estimateAll(messages), isMeasured: true };
		}
		tail += estimateTokens(message);
	}
	return { tokens: tail, isMeasured: true };
}

/**
 * How many tokens a context has gained since it was smallest after the last compaction; undefined when there was no
 * compaction. A request that is large right after a compaction will not get smaller by another one.
 */
export function measureGrowth(fromLeaf: Iterable<Entry>): number | undefined {
	let newest: number | undefined;
	let smallest = Number.POSITIVE_INFINITY;
	let guessed = 0;
	for (const entry of fromLeaf) {
		if (isCompaction(entry)) return newest === undefined ? guessed : newest - smallest;
		const message = toMessage(entry);
		if (!message) continue;
		const used = isReply(message) ? usedTokens(message.usage) : 0;
		if (used > 0) {
			newest ??= used + guessed;
			smallest = Math.min(smallest, used);
		}
		guessed += estimateTokens(message);
	}
	return undefined;
}

/** A reply that came to its end: the usage of others says nothing about the whole request. */
function isReply(message: AgentMessage): message is AssistantMessage {
	return message.role === "assistant" && message.stopReason !== "error" && message.stopReason !== "aborted";
}
