/** Scripted replies as chat completion chunks. */

import type { RecordedRequest } from "../request.ts";
import type { Frame } from "../send.ts";
import {
	argumentsText,
	cutText,
	listBlocks,
	type ReplyOptions,
	resolveFinish,
	type ScriptedBlock,
	type ScriptedCall,
	type ScriptedUsage,
} from "../step.ts";

const FINISH = { stop: "stop", tools: "tool_calls", length: "length", refusal: "content_filter" } as const;

let replies = 0;

/** The events of one reply: role, deltas, finish, usage (when the request asks for it) and `[DONE]`. */
export function encodeChat(options: ReplyOptions, request: RecordedRequest): Frame[] {
	replies += 1;
	const base = {
		id: `chatcmpl-${replies}`,
		object: "chat.completion.chunk",
		created: 1_700_000_000,
		model: request.body.model,
	};
	const chunk = (delta: object, finish: string | null = null) =>
		JSON.stringify({ ...base, choices: [{ index: 0, delta, finish_reason: finish }] });
	const content = (delta: object): Frame => ({ data: chunk(delta), part: "content" });

	const frames: Frame[] = [content({ role: "assistant", content: "" })];
	const callDeltas: object[][] = [];
	for (const block of listBlocks(options)) {
		if (block.type === "call") callDeltas.push(encodeCall(block, callDeltas.length, options));
		else frames.push(...encodeText(block, options).map(content));
	}
	for (const delta of options.interleave ? alternate(callDeltas) : callDeltas.flat()) {
		frames.push(content({ tool_calls: [delta] }));
	}
	frames.push({ data: chunk({}, FINISH[resolveFinish(options)]), part: "finish" });
	if (request.body.stream_options?.include_usage) {
		frames.push({ data: JSON.stringify({ ...base, choices: [], usage: encodeUsage(options.usage) }), part: "usage" });
	}
	frames.push({ data: "[DONE]", part: "end" });
	return frames;
}

function encodeText(block: Exclude<ScriptedBlock, { type: "call" }>, options: ReplyOptions): object[] {
	const field = block.type === "thinking" ? "reasoning_content" : "content";
	return cutText(block.text, options.chunk).map((piece) => ({ [field]: piece }));
}

function encodeCall(call: ScriptedCall, index: number, options: ReplyOptions): object[] {
	const id = call.id ?? `call_${replies}_${index}`;
	const head = { ...(id === "" ? {} : { id }), type: "function" };
	const pieces = cutText(argumentsText(call), options.chunk);
	const deltas: Record<string, unknown>[] = pieces.map((piece) => ({ index, function: { arguments: piece } }));
	if (options.lateIds) return [...deltas, { index, ...head, function: { name: call.name, arguments: "" } }];
	return [{ index, ...head, function: { name: call.name, arguments: "" } }, ...deltas];
}

function alternate(lists: readonly object[][]): object[] {
	const longest = Math.max(0, ...lists.map((list) => list.length));
	const mixed: object[] = [];
	for (let at = 0; at < longest; at += 1) {
		for (const list of lists) {
			const item = list[at];
			if (item) mixed.push(item);
		}
	}
	return mixed;
}

function encodeUsage(usage: ScriptedUsage = {}): object {
	const { input = 10, output = 5, cacheRead = 0, reasoning = 0 } = usage;
	return {
		prompt_tokens: input,
		completion_tokens: output,
		total_tokens: input + output,
		prompt_tokens_details: { cached_tokens: cacheRead },
		completion_tokens_details: { reasoning_tokens: reasoning },
	};
}
