import type {
	AssistantMessage,
	AssistantMessageEventStream,
	Message,
	SimpleStreamOptions,
	Tool,
} from "@earendil-works/pi-ai";
import { normalizeContext } from "@earendil-works/pi-ai/utils/transcript";
import { type Reply, separateCalls } from "./calls.ts";
import { drainStream, type PartialEvent } from "./drain.ts";
import { abortedText, describeError, emptyMessage } from "./faults.ts";
import { abandoned, type Grace, settleOrAbandon } from "./grace.ts";
import type { AgentContext, AgentEventSink, AgentLoopConfig, AgentTool, StreamFn } from "./types.ts";

/**
 * Asks the model once and forwards its stream as message events. Every fault of the model, the network or the key
 * ends in a message with stop reason `error` or `aborted` that keeps what had arrived; only hooks that must not throw
 * and the sink make it reject.
 */
export async function requestReply(
	context: AgentContext,
	config: AgentLoopConfig,
	emit: AgentEventSink,
	signal: AbortSignal | undefined,
	streamFn: StreamFn,
	grace: Grace,
): Promise<Reply> {
	const toolNames = (context.tools ?? []).map((tool) => tool.name);
	const finishedCalls = new Set<number>();
	let partial: AssistantMessage | undefined;
	let started = false;

	const showStart = async (message: AssistantMessage) => {
		if (started) return;
		started = true;
		await emit({ type: "message_start", message: copyMessage(message) });
	};
	const forward = async (event: PartialEvent) => {
		partial = event.partial;
		if (event.type === "toolcall_end") finishedCalls.add(event.contentIndex);
		await showStart(event.partial);
		if (event.type === "start") return;
		await emit({ type: "message_update", message: copyMessage(event.partial), assistantMessageEvent: event });
	};
	const finish = async (received: AssistantMessage): Promise<Reply> => {
		const final = labelAbort(received, signal);
		const { message, repeatedCalls } = separateCalls(final, context.messages, toolNames);
		await showStart(message);
		await emit({ type: "message_end", message });
		return { message, finishedCalls, repeatedCalls };
	};
	const breakOff = (stopReason: "error" | "aborted", errorMessage: string) =>
		finish({ ...(partial ?? emptyMessage(config.model)), stopReason, errorMessage });

	const messages = await prepareMessages(context, config, signal);
	if (signal?.aborted) return breakOff("aborted", abortedText);

	let stream: AssistantMessageEventStream | typeof abandoned;
	try {
		stream = await settleOrAbandon(openStream(messages, context, config, signal, streamFn), signal, grace);
	} catch (error) {
		return breakOff("error", describeError(error));
	}
	if (stream === abandoned) return breakOff("aborted", abortedText);
	const end = await drainStream(stream, signal, grace, forward);
	switch (end.kind) {
		case "final":
			return finish(end.message);
		case "abandoned":
			return breakOff("aborted", abortedText);
		case "failed":
			return breakOff("error", describeError(end.error));
		case "silent":
			return breakOff("error", "The model's stream ended without a final message.");
	}
}

async function prepareMessages(
	context: AgentContext,
	config: AgentLoopConfig,
	signal: AbortSignal | undefined,
): Promise<Message[]> {
	const messages = config.transformContext
		? await config.transformContext([...context.messages], signal)
		: context.messages;
	return config.convertToLlm(messages);
}

async function openStream(
	messages: Message[],
	context: AgentContext,
	config: AgentLoopConfig,
	signal: AbortSignal | undefined,
	streamFn: StreamFn,
): Promise<AssistantMessageEventStream> {
	const key = await config.getApiKey?.(config.model.provider);
	const options: SimpleStreamOptions = pickStreamOptions(config);
	if (key !== undefined) options.apiKey = key;
	if (signal) options.signal = signal;
	const request = { systemPrompt: context.systemPrompt, messages, tools: (context.tools ?? []).map(declareTool) };
	return streamFn(config.model, normalizeContext(request), options);
}

function pickStreamOptions(config: AgentLoopConfig): SimpleStreamOptions {
	const {
		model: _model,
		convertToLlm: _convertToLlm,
		transformContext: _transformContext,
		getApiKey: _getApiKey,
		getSteeringMessages: _getSteeringMessages,
		getFollowUpMessages: _getFollowUpMessages,
		beforeToolCall: _beforeToolCall,
		afterToolCall: _afterToolCall,
		shouldStopAfterTurn: _shouldStopAfterTurn,
		toolExecution: _toolExecution,
		abortGraceMs: _abortGraceMs,
		clock: _clock,
		...options
	} = config;
	return options;
}

function declareTool(tool: AgentTool): Tool {
	const { name, description, parameters, constrainedSampling } = tool;
	return { name, description, parameters, ...(constrainedSampling === undefined ? {} : { constrainedSampling }) };
}

/** An abort shows up as an error in some libraries; what the user asked for is what the message says. */
function labelAbort(message: AssistantMessage, signal: AbortSignal | undefined): AssistantMessage {
	const aborted = message.stopReason === "aborted" || (message.stopReason === "error" && signal?.aborted === true);
	return aborted ? { ...message, stopReason: "aborted", errorMessage: abortedText } : message;
}

/** `partial` of a stream event goes on changing; listeners get the list of blocks as it is now. */
function copyMessage(message: AssistantMessage): AssistantMessage {
	return { ...message, content: [...message.content] };
}
