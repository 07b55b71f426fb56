/** Scripted replies as Anthropic Messages events. */

import type { RecordedRequest } from "../request.ts";
import type { Frame } from "../send.ts";
import { sealText, signText } from "../sign.ts";
import {
	argumentsText,
	cutText,
	listBlocks,
	type ReplyOptions,
	resolveFinish,
	type ScriptedBlock,
	type ScriptedUsage,
} from "../step.ts";

const FINISH = { stop: "end_turn", tools: "tool_use", length: "max_tokens", refusal: "refusal" } as const;

let replies = 0;

/** The events of one reply: start, a ping, blocks with their deltas, stop reason with usage, stop. */
export function encodeAnthropic(options: ReplyOptions, request: RecordedRequest): Frame[] {
	replies += 1;
	const model = String(request.body.model);
	const usage = encodeUsage(options.usage);
	const message = {
		id: `msg_${replies}`,
		type: "message",
		role: "assistant",
		model,
		content: [],
		stop_reason: null,
		stop_sequence: null,
		usage: { ...usage, output_tokens: 1 },
	};
	const frames = [frame("message_start", { message }), frame("ping", {})];
	for (const [index, block] of listBlocks(options).entries()) {
		const { start, deltas } = encodeBlock(block, index, model, options.chunk);
		frames.push(frame("content_block_start", { index, content_block: start }));
		for (const delta of deltas) frames.push(frame("content_block_delta", { index, delta }));
		frames.push(frame("content_block_stop", { index }));
	}
	const delta = { stop_reason: FINISH[resolveFinish(options)], stop_sequence: null };
	frames.push({ ...frame("message_delta", { delta, usage }), part: "finish" });
	frames.push({ ...frame("message_stop", {}), part: "end" });
	return frames;
}

/** The event of an error in a stream. */
export function encodeAnthropicError(error: object): Frame {
	return frame("error", { error, request_id: `req_${replies}` });
}

function frame(event: string, fields: object): Frame {
	return { event, data: JSON.stringify({ type: event, ...fields }), part: "content" };
}

function encodeBlock(
	block: ScriptedBlock,
	index: number,
	model: string,
	chunk: number | undefined,
): { readonly start: object; readonly deltas: readonly object[] } {
	if (block.type === "text") {
		const deltas = cutText(block.text, chunk).map((text) => ({ type: "text_delta", text }));
		return { start: { type: "text", text: "" }, deltas };
	}
	if (block.type === "thinking") {
		if (block.redacted) {
			return { start: { type: "redacted_thinking", data: sealText(model, block.text) }, deltas: [] };
		}
		const deltas = cutText(block.text, chunk).map((thinking) => ({ type: "thinking_delta", thinking }));
		const signature = { type: "signature_delta", signature: signText(model, block.text) };
		return { start: { type: "thinking", thinking: "", signature: "" }, deltas: [...deltas, signature] };
	}
	const id = block.id ?? `toolu_${replies}_${index}`;
	const pieces = cutText(argumentsText(block), chunk);
	return {
		start: { type: "tool_use", ...(id === "" ? {} : { id }), name: block.name, input: {} },
		deltas: ["", ...pieces].map((piece) => ({ type: "input_json_delta", partial_json: piece })),
	};
}

function encodeUsage(usage: ScriptedUsage = {}): object {
	const { input = 10, output = 5, cacheRead = 0, cacheWrite = 0, reasoning } = usage;
	return {
		input_tokens: input - cacheRead - cacheWrite,
		cache_creation_input_tokens: cacheWrite,
		cache_read_input_tokens: cacheRead,
		output_tokens: output,
		...(reasoning === undefined ? {} : { output_tokens_details: { thinking_tokens: reasoning } }),
	};
}
