import type { Api, AssistantMessage, Model, SimpleStreamOptions, TranscriptContext } from "@earendil-works/pi-ai";
import { AssistantMessageEventStream } from "@earendil-works/pi-ai/utils/event-stream";
import { emptyMessage } from "../faults.ts";
import type { AgentContext, AgentEvent, AgentLoopConfig, AgentMessage, AgentTool, StreamFn } from "../types.ts";

/** A model that no server knows. */
export const testModel: Model<Api> = {
	id: "test-model",
	name: "Test",
	api: "openai-completions",
	provider: "test",
	baseUrl: "http://127.0.0.1:1",
	reasoning: false,
	input: ["text"],
	cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
	contextWindow: 1_000,
	maxTokens: 100,
};

/** What the scripted model was asked. */
export interface AskedRequest {
	context: TranscriptContext;
	options: SimpleStreamOptions | undefined;
}

type Block = AssistantMessage["content"][number];

/** A text block. */
export const text = (value: string): Block => ({ type: "text", text: value });

/** A tool call block. */
export const call = (id: string, name: string, args: Record<string, string | number> = {}): Block => ({
	type: "toolCall",
	id,
	name,
	arguments: args,
});

/** How a scripted reply differs from a clean one. */
export interface ReplyOptions {
	stopReason?: AssistantMessage["stopReason"];
	errorMessage?: string;
	/** Positions of tool calls whose end event is left out. */
	withoutEnd?: number[];
	/** Sends the end events of calls and the final event twice. */
	doubled?: boolean;
}

/** Writes one reply to a stream. */
export type Scripted = (stream: AssistantMessageEventStream, options: SimpleStreamOptions | undefined) => void;

/** A reply with these blocks, streamed as providers do. */
export function reply(content: Block[], options: ReplyOptions = {}): Scripted {
	return (stream) => {
		const hasCalls = content.some((block) => block.type === "toolCall");
		const stopReason = options.stopReason ?? (hasCalls ? "toolUse" : "stop");
		const partial: AssistantMessage = { ...emptyMessage(testModel), content: [] };
		stream.push({ type: "start", partial });
		for (const [contentIndex, block] of content.entries()) {
			partial.content.push(block);
			if (block.type === "text") {
				stream.push({ type: "text_start", contentIndex, partial });
				stream.push({ type: "text_delta", contentIndex, delta: block.text, partial });
				stream.push({ type: "text_end", contentIndex, content: block.text, partial });
			}
			if (block.type !== "toolCall") continue;
			stream.push({ type: "toolcall_start", contentIndex, partial });
			if (options.withoutEnd?.includes(contentIndex)) continue;
			stream.push({ type: "toolcall_end", contentIndex, toolCall: block, partial });
			if (options.doubled) stream.push({ type: "toolcall_end", contentIndex, toolCall: block, partial });
		}
		const message: AssistantMessage = { ...partial, stopReason };
		if (options.errorMessage !== undefined) message.errorMessage = options.errorMessage;
		for (let times = options.doubled ? 2 : 1; times > 0; times--) {
			if (stopReason === "error" || stopReason === "aborted") {
				stream.push({ type: "error", reason: stopReason, error: message });
			} else if (stopReason !== "pending") {
				stream.push({ type: "done", reason: stopReason, message });
			}
		}
		stream.end();
	};
}

/** A stream function that plays `replies` in order and remembers what it was asked. */
export function scriptModel(...replies: Scripted[]): { streamFn: StreamFn; asked: AskedRequest[] } {
	const asked: AskedRequest[] = [];
	const streamFn: StreamFn = (_model, context, options) => {
		const next = replies[asked.length];
		asked.push({ context, options });
		if (!next) throw new Error(`The script has only ${replies.length} replies.`);
		const stream = new AssistantMessageEventStream();
		next(stream, options);
		return stream;
	};
	return { streamFn, asked };
}

/** A user message. */
export const user = (content: string): AgentMessage => ({ role: "user", content, timestamp: 0 });

/** A configuration that passes messages through. */
export function testConfig(extra: Partial<AgentLoopConfig> = {}): AgentLoopConfig {
	return { model: testModel, convertToLlm: (messages) => messages, ...extra };
}

/** A context of these messages and tools. */
export function testContext(messages: AgentMessage[], tools: AgentTool[] = []): AgentContext {
	return { systemPrompt: "You are a test.", messages, tools };
}

/** Collects events. */
export function recordEvents(): { events: AgentEvent[]; emit: (event: AgentEvent) => void } {
	const events: AgentEvent[] = [];
	return {
		events,
		emit: (event) => {
			events.push(event);
		},
	};
}

/** A tool that takes `{ text }`, counts its runs and answers with that text. */
export function echoTool(extra: Partial<AgentTool> = {}): AgentTool & { runs: unknown[] } {
	const runs: unknown[] = [];
	return {
		name: "echo",
		label: "Echo",
		description: "Says it again.",
		parameters: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
		async execute(_id, params) {
			runs.push(params);
			return { content: [{ type: "text", text: (params as { text: string }).text }], details: undefined };
		},
		runs,
		...extra,
	};
}

/** The text of a message's or result's content. */
export function textOf(message: { content: string | readonly { type: string; text?: string }[] }): string {
	if (typeof message.content === "string") return message.content;
	return message.content.map((block) => block.text ?? "").join("");
}
