import type { AssistantMessage, ToolCall } from "@earendil-works/pi-ai";
import type { AgentMessage } from "./types.ts";

/** One complete model reply and what its stream proved about it. */
export interface Reply {
	message: AssistantMessage;
	/** Content positions of the tool calls whose end event was seen. */
	finishedCalls: ReadonlySet<number>;
	/** Content positions of tool calls that say again what an earlier call with the same id said. */
	repeatedCalls: ReadonlySet<number>;
}

/** A tool call and its position in the content of its message. */
export interface PlacedCall {
	call: ToolCall;
	position: number;
}

/** A reply that broke off; it stands for no calls, because pi-ai leaves such messages out of later requests. */
export function isBroken({ stopReason }: AssistantMessage): boolean {
	return stopReason === "error" || stopReason === "aborted";
}

/** The tool calls of a message in order. */
export function listCalls(message: AssistantMessage): PlacedCall[] {
	const calls: PlacedCall[] = [];
	for (const [position, block] of message.content.entries()) {
		if (block.type === "toolCall") calls.push({ call: block, position });
	}
	return calls;
}

/**
 * Makes the calls of `message` such that servers take the transcript: every id is neither empty nor taken (by an
 * earlier call of it or by one of `before`), and a name that is none of `toolNames` has only characters that names may
 * have. A call that repeats an earlier one of the same message word for word is reported as repeated.
 */
export function separateCalls(
	message: AssistantMessage,
	before: readonly AgentMessage[],
	toolNames: readonly string[],
): { message: AssistantMessage; repeatedCalls: ReadonlySet<number> } {
	const taken = new Set<string>();
	const isTaken = (callId: string) => taken.has(callId) || before.some((earlier) => hasCall(earlier, callId));
	const seen = new Set<string>();
	const repeatedCalls = new Set<number>();
	let changed = false;
	const content = message.content.map((block, position) => {
		if (block.type !== "toolCall") return block;
		const words = JSON.stringify([block.id, block.name, block.arguments, block.argumentsError ?? null]);
		const { callId, item } = splitId(block.id);
		if (callId !== "" && seen.has(words)) repeatedCalls.add(position);
		seen.add(words);
		const freeId = findFreeId(callId || `call_${position}`, isTaken);
		const id = freeId + item;
		const name = toolNames.includes(block.name) ? block.name : cleanToolName(block.name);
		taken.add(freeId);
		if (id === block.id && name === block.name) return block;
		changed = true;
		return { ...block, id, name };
	});
	return { message: changed ? { ...message, content } : message, repeatedCalls };
}

/**
 * What has to be unique in an id, and the rest: in the Responses format an id is `<call>|<item>`. Where a server left
 * the id out, pi-ai has none, or the word `undefined` in its place.
 */
function splitId(id: string | undefined): { callId: string; item: string } {
	const [callId = "", ...item] = (id ?? "").split("|");
	return { callId: callId === "undefined" ? "" : callId, item: item.map((part) => `|${part}`).join("") };
}

/** Whether a call of the message has this id, or in the Responses format this first half. */
function hasCall(message: AgentMessage, callId: string): boolean {
	if (message.role !== "assistant") return false;
	for (const block of message.content) {
		if (block.type !== "toolCall" || !block.id?.startsWith(callId)) continue;
		if (block.id.length === callId.length || block.id[callId.length] === "|") return true;
	}
	return false;
}

/** A name of a tool as the strictest servers take it: letters, digits, `_` and `-`, 1 to 64 of them. */
export function cleanToolName(name: string): string {
	return name.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 64) || "unnamed";
}

function findFreeId(wanted: string, isTaken: (id: string) => boolean): string {
	let id = wanted;
	for (let suffix = 2; isTaken(id); suffix++) id = `${wanted}_${suffix}`;
	return id;
}

/** Why the call at `position` must not run, in words for the model; `undefined` when nothing speaks against it. */
export function explainRefusal(reply: Reply, { call, position }: PlacedCall): string | undefined {
	switch (reply.message.stopReason) {
		case "toolUse":
		case "stop":
			break;
		case "length":
			return "The call was not run: the reply reached its output limit, so the arguments may be incomplete. Send it again, in smaller parts if it is long.";
		default:
			return `The call was not run: the reply ended as "${reply.message.stopReason}".`;
	}
	if (!reply.finishedCalls.has(position)) {
		return "The call was not run: the reply ended before the call was complete. Send it again.";
	}
	if (call.argumentsError !== undefined) {
		return `The call was not run: its arguments could not be read. ${call.argumentsError}`;
	}
	if (reply.repeatedCalls.has(position)) {
		return "The call was not run: it repeats an earlier call of the same reply, id included. Send it again if it should run twice.";
	}
	return undefined;
}
