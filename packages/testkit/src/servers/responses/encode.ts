/** Scripted replies as OpenAI Responses events. */

import type { RecordedRequest } from "../request.ts";
import type { Frame } from "../send.ts";
import { sealText } from "../sign.ts";
import {
	argumentsText,
	cutText,
	listBlocks,
	type ReplyOptions,
	resolveFinish,
	type ScriptedBlock,
	type ScriptedUsage,
} from "../step.ts";

let replies = 0;

/** An event without its number in the stream. */
type Event = { readonly type: string } & Record<string, unknown>;

/** The events of one reply: created, items with their deltas, and the whole response at its end. */
export function encodeResponses(options: ReplyOptions, request: RecordedRequest): Frame[] {
	replies += 1;
	const model = String(request.body.model);
	const blocks = listBlocks(options);
	const finish = resolveFinish(options);
	const items = blocks.map((block, index) => encodeItem(block, index, model, findReasoning(blocks, index), options));
	const response = {
		id: `resp_${replies}`,
		object: "response",
		created_at: 1_700_000_000,
		model,
		status: "in_progress",
	};
	const events: Event[] = [
		{ type: "response.created", response: { ...response, output: [] } },
		{ type: "response.in_progress", response: { ...response, output: [] } },
		...items.flatMap((item) => item.events),
	];
	if (finish === "refusal") events.push(...encodeRefusal(items.length));
	const isCut = finish === "length";
	const whole = {
		...response,
		status: isCut ? "incomplete" : "completed",
		incomplete_details: isCut ? { reason: "max_output_tokens" } : null,
		output: items.map((item) => item.item),
		usage: encodeUsage(options.usage),
	};
	const last: Event = { type: isCut ? "response.incomplete" : "response.completed", response: whole };
	return [...events, last].map((event, index) => ({
		event: event.type,
		data: JSON.stringify({ ...event, sequence_number: index }),
		part: event === last ? "last" : "content",
	}));
}

/** The event of an error in a stream. */
export function encodeResponsesError(error: object): Frame {
	const data = { type: "error", code: null, param: null, ...error, sequence_number: 0 };
	return { event: "error", data: JSON.stringify(data), part: "content" };
}

/** The id that a reasoning item has which must come back before this item, if there is one right before it. */
function findReasoning(blocks: readonly ScriptedBlock[], index: number): string | undefined {
	return blocks[index - 1]?.type === "thinking" ? `rs_${replies}_${index - 1}` : undefined;
}

interface EncodedItem {
	readonly item: object;
	readonly events: readonly Event[];
}

function encodeItem(
	block: ScriptedBlock,
	index: number,
	model: string,
	reasoning: string | undefined,
	options: ReplyOptions,
): EncodedItem {
	// The id of an item names the reasoning that it needs, so that every mock server knows it again.
	const suffix = `${replies}_${index}${reasoning === undefined ? "" : `-needs-${reasoning}`}`;
	if (block.type === "thinking") return encodeReasoning(block.text, `rs_${replies}_${index}`, index, model, options);
	if (block.type === "text") return encodeMessage(block.text, `msg_${suffix}`, index, options);
	const callId = block.id ?? `call_${replies}_${index}`;
	const base = {
		type: "function_call",
		id: `fc_${suffix}`,
		...(callId === "" ? {} : { call_id: callId }),
		name: block.name,
	};
	const text = argumentsText(block);
	const item = { ...base, arguments: text, status: "completed" };
	const place = { item_id: base.id, output_index: index };
	return wrapItem({ ...base, arguments: "", status: "in_progress" }, item, index, [
		...cutText(text, options.chunk).map((delta) => ({
			type: "response.function_call_arguments.delta",
			...place,
			delta,
		})),
		{ type: "response.function_call_arguments.done", ...place, name: block.name, arguments: text },
	]);
}

function encodeReasoning(text: string, id: string, index: number, model: string, options: ReplyOptions): EncodedItem {
	const place = { item_id: id, output_index: index, summary_index: 0 };
	const part = { type: "summary_text", text };
	const item = { type: "reasoning", id, summary: [part], encrypted_content: sealText(model, text) };
	return wrapItem({ ...item, summary: [], encrypted_content: "" }, item, index, [
		{ type: "response.reasoning_summary_part.added", ...place, part: { ...part, text: "" } },
		...cutText(text, options.chunk).map((delta) => ({
			type: "response.reasoning_summary_text.delta",
			...place,
			delta,
		})),
		{ type: "response.reasoning_summary_text.done", ...place, text },
		{ type: "response.reasoning_summary_part.done", ...place, part },
	]);
}

function encodeMessage(text: string, id: string, index: number, options: ReplyOptions): EncodedItem {
	const place = { item_id: id, output_index: index, content_index: 0 };
	const part = { type: "output_text", text, annotations: [] };
	const base = { type: "message", id, role: "assistant" };
	const item = { ...base, status: "completed", content: [part] };
	return wrapItem({ ...base, status: "in_progress", content: [] }, item, index, [
		{ type: "response.content_part.added", ...place, part: { ...part, text: "" } },
		...cutText(text, options.chunk).map((delta) => ({
			type: "response.output_text.delta",
			...place,
			delta,
			logprobs: [],
		})),
		{ type: "response.output_text.done", ...place, text, logprobs: [] },
		{ type: "response.content_part.done", ...place, part },
	]);
}

function encodeRefusal(index: number): readonly Event[] {
	const refusal = "I can't help with that.";
	const id = `msg_${replies}_${index}`;
	const place = { item_id: id, output_index: index, content_index: 0 };
	const part = { type: "refusal", refusal };
	const base = { type: "message", id, role: "assistant" };
	return wrapItem(
		{ ...base, status: "in_progress", content: [] },
		{ ...base, status: "completed", content: [part] },
		index,
		[
			{ type: "response.content_part.added", ...place, part: { ...part, refusal: "" } },
			{ type: "response.refusal.delta", ...place, delta: refusal },
			{ type: "response.refusal.done", ...place, refusal },
			{ type: "response.content_part.done", ...place, part },
		],
	).events;
}

function wrapItem(start: object, item: object, index: number, events: readonly Event[]): EncodedItem {
	const added = { type: "response.output_item.added", output_index: index, item: start };
	const done = { type: "response.output_item.done", output_index: index, item };
	return { item, events: [added, ...events, done] };
}

function encodeUsage(usage: ScriptedUsage = {}): object {
	const { input = 10, output = 5, cacheRead = 0, cacheWrite = 0, reasoning = 0 } = usage;
	return {
		input_tokens: input,
		input_tokens_details: { cached_tokens: cacheRead, cache_write_tokens: cacheWrite },
		output_tokens: output,
		output_tokens_details: { reasoning_tokens: reasoning },
		total_tokens: input + output,
	};
}
