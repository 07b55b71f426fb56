import type { AssistantMessage, StopReason, ToolResultMessage, UserMessage } from "@earendil-works/pi-ai";
import type { AgentMessage } from "@prime-agent/loop";
import { isJsonObject } from "../lib/json.ts";

const STOP_REASONS: readonly StopReason[] = ["stop", "length", "toolUse", "error", "aborted"];
const NO_USAGE: AssistantMessage["usage"] = {
	...{ input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0 },
	cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
};

/** A value of a file, whose fields may be anything. */
type Fields = Readonly<Record<string, unknown>>;

/**
 * The message that a line of a session file holds, in the shape that everybody relies on: what other programs, other
 * versions and editors wrote differently is put right or left out. A sound message is returned as it is; undefined for
 * what is no message at all.
 */
export function mendMessage(value: unknown): AgentMessage | undefined {
	if (!isJsonObject(value) || typeof value.role !== "string") return undefined;
	const { role, content } = value;
	const timestamp = typeof value.timestamp === "number" ? value.timestamp : 0;
	switch (role) {
		case "user": {
			if (isSound(value, isText(content) || areAll(content, isShown))) return value as unknown as UserMessage;
			const said = typeof content === "string" ? content.toWellFormed() : listShown(content);
			return { ...value, role, content: said, timestamp };
		}
		case "assistant": {
			const isComplete =
				isJsonObject(value.usage) &&
				isJsonObject(value.usage.cost) &&
				STOP_REASONS.includes(value.stopReason as StopReason);
			if (isSound(value, isComplete && areAll(content, isSaid))) return value as unknown as AssistantMessage;
			return mendReply(value, timestamp);
		}
		case "toolResult": {
			const isComplete = typeof value.toolCallId === "string" && typeof value.toolName === "string";
			if (isSound(value, isComplete && areAll(content, isShown))) return value as unknown as ToolResultMessage;
			return {
				...value,
				role,
				toolCallId: textOf(value.toolCallId),
				toolName: textOf(value.toolName),
				content: listShown(content),
				isError: value.isError === true,
				timestamp,
			};
		}
		default:
			return value as unknown as AgentMessage;
	}
}

function isSound(value: Fields, hasShape: boolean): boolean {
	return hasShape && typeof value.timestamp === "number";
}

function mendReply(value: Fields, timestamp: number): AssistantMessage {
	const isKnown = STOP_REASONS.includes(value.stopReason as StopReason);
	const usage = isJsonObject(value.usage) ? { ...NO_USAGE, ...value.usage } : NO_USAGE;
	return {
		...value,
		role: "assistant",
		api: textOf(value.api),
		provider: textOf(value.provider),
		model: textOf(value.model),
		content: listSaid(value.content),
		usage,
		stopReason: isKnown ? (value.stopReason as StopReason) : "stop",
		timestamp,
	};
}

function listShown(content: unknown): ToolResultMessage["content"] {
	return listBlocks(content).filter(isShown) as ToolResultMessage["content"];
}

function listSaid(content: unknown): AssistantMessage["content"] {
	return listBlocks(content).filter(isSaid) as AssistantMessage["content"];
}

function listBlocks(content: unknown): unknown[] {
	if (typeof content === "string") return [{ type: "text", text: content.toWellFormed() }];
	return Array.isArray(content) ? content.map((block) => (isJsonObject(block) ? mendBlock(block) : block)) : [];
}

function mendBlock(block: Fields): Fields {
	if (block.type === "text") return { ...block, text: mendText(block.text) };
	if (block.type !== "toolCall") return block;
	// A call keeps its place even if its arguments are lost, so that its result has one, too.
	return { ...block, id: textOf(block.id), arguments: isJsonObject(block.arguments) ? mendText(block.arguments) : {} };
}

/** Half a character, which no server takes, becomes U+FFFD, in texts and everywhere inside of values. */
function mendText(value: unknown): unknown {
	if (typeof value === "string") return value.toWellFormed();
	if (Array.isArray(value)) return value.map(mendText);
	if (!isJsonObject(value)) return value;
	return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key.toWellFormed(), mendText(inner)]));
}

function isWellFormed(value: unknown): boolean {
	if (typeof value === "string") return value.isWellFormed();
	if (Array.isArray(value)) return value.every(isWellFormed);
	if (!isJsonObject(value)) return true;
	return Object.entries(value).every(([key, inner]) => key.isWellFormed() && isWellFormed(inner));
}

function isText(value: unknown): value is string {
	return typeof value === "string" && value.isWellFormed();
}

function isShown(block: unknown): boolean {
	if (!isJsonObject(block)) return false;
	if (block.type === "text") return isText(block.text);
	return block.type === "image" && typeof block.data === "string" && typeof block.mimeType === "string";
}

function isSaid(block: unknown): boolean {
	if (!isJsonObject(block)) return false;
	if (block.type === "text") return isText(block.text);
	if (block.type === "thinking") return typeof block.thinking === "string";
	const isCall = block.type === "toolCall" && typeof block.id === "string" && typeof block.name === "string";
	return isCall && isJsonObject(block.arguments) && isWellFormed(block.arguments);
}

function areAll(content: unknown, check: (block: unknown) => boolean): boolean {
	return Array.isArray(content) && content.every(check);
}

function textOf(value: unknown): string {
	return typeof value === "string" ? value : "";
}
