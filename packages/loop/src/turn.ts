import type { AssistantMessage, ToolResultMessage } from "@earendil-works/pi-ai";
import { systemClock } from "./clock.ts";
import type { Grace } from "./grace.ts";
import { requestReply } from "./reply.ts";
import { runCalls } from "./tools.ts";
import type { AgentContext, AgentEventSink, AgentLoopConfig, AgentMessage, StreamFn } from "./types.ts";

const defaultAbortGraceMs = 5_000;

/** What one turn added to the transcript. */
export interface TurnResult {
	message: AssistantMessage;
	/** Exactly one per tool call of `message`, in call order; none when it ended with `error` or `aborted`. */
	toolResults: ToolResultMessage[];
	/** Every one of these results asks to end the run. */
	terminate: boolean;
}

/**
 * Runs one turn: one model reply and its tool calls. Emits `turn_start`, a `message_start`/`message_end` pair for each
 * message of `opening`, the events of the reply and of the calls, `turn_end`. `context` is only read; `opening` are
 * messages at its end that this turn announces.
 *
 * Faults of the model, the network, the tools and the tool hooks become messages, an abort too (stop reason `aborted`,
 * "Request was aborted"; an already aborted `signal` reaches no model). Rejects only for programming errors: a throwing
 * sink, `convertToLlm` or `transformContext`.
 */
export async function runTurn(
	context: AgentContext,
	config: AgentLoopConfig,
	emit: AgentEventSink,
	signal: AbortSignal | undefined,
	streamFn: StreamFn,
	opening: readonly AgentMessage[] = [],
): Promise<TurnResult> {
	signal ??= config.signal;
	const grace: Grace = { clock: config.clock ?? systemClock, ms: config.abortGraceMs ?? defaultAbortGraceMs };
	await emit({ type: "turn_start" });
	for (const message of opening) {
		await emit({ type: "message_start", message });
		await emit({ type: "message_end", message });
	}
	const reply = await requestReply(context, config, emit, signal, streamFn, grace);
	const { toolResults, terminate } = await runCalls(reply, context, config, emit, signal, grace);
	await emit({ type: "turn_end", message: reply.message, toolResults });
	return { message: reply.message, toolResults, terminate };
}
