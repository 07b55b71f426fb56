import { EventStream } from "@earendil-works/pi-ai/utils/event-stream";
import { isBroken } from "./calls.ts";
import { describeError, emptyMessage } from "./faults.ts";
import { streamByApi } from "./stream/apis.ts";
import { guardStream } from "./stream/guard.ts";
import { runTurn } from "./turn.ts";
import type { AgentContext, AgentEvent, AgentEventSink, AgentLoopConfig, AgentMessage, StreamFn } from "./types.ts";

/** For callers that bring no stream function: pi-ai's adapter for the model's API, guarded with the default limits. */
const guardedByApi = guardStream({ streamFn: streamByApi });

/**
 * Runs turns from new prompt messages until the model has no more to do, and answers the messages that were added,
 * prompts included. Emits `agent_start`, the turns, `agent_end`. `context` is only read. Rejects as `runTurn`, and when
 * a hook throws that must not; model faults and aborts are messages.
 */
export async function runAgentLoop(
	prompts: AgentMessage[],
	context: AgentContext,
	config: AgentLoopConfig,
	emit: AgentEventSink,
	signal?: AbortSignal,
	streamFn: StreamFn = guardedByApi,
): Promise<AgentMessage[]> {
	signal ??= config.signal;
	await emit({ type: "agent_start" });
	const newMessages: AgentMessage[] = [];
	const current: AgentContext = { ...context, messages: [...context.messages] };
	const append = (messages: readonly AgentMessage[]) => {
		newMessages.push(...messages);
		current.messages.push(...messages);
	};
	let opening = [...prompts, ...(await takeSteering(config, signal))];
	for (;;) {
		append(opening);
		const turn = await runTurn(current, config, emit, signal, streamFn, opening);
		append([turn.message, ...turn.toolResults]);
		if (isBroken(turn.message)) break;
		const { message, toolResults } = turn;
		if (await config.shouldStopAfterTurn?.({ message, toolResults, context: current, newMessages })) break;
		opening = await takeSteering(config, signal);
		const modelWaits = toolResults.length > 0 && !turn.terminate;
		if (modelWaits || opening.length > 0) continue;
		opening = signal?.aborted ? [] : ((await config.getFollowUpMessages?.()) ?? []);
		if (opening.length === 0) break;
	}
	await emit({ type: "agent_end", messages: newMessages });
	return newMessages;
}

/**
 * As `runAgentLoop` without a prompt, for instance to try again after an error. The last message of `context` must be
 * one that a model can answer; an empty context and an assistant message there are errors.
 */
export async function runAgentLoopContinue(
	context: AgentContext,
	config: AgentLoopConfig,
	emit: AgentEventSink,
	signal?: AbortSignal,
	streamFn: StreamFn = guardedByApi,
): Promise<AgentMessage[]> {
	checkContinuable(context);
	return runAgentLoop([], context, config, emit, signal, streamFn);
}

/**
 * `runAgentLoop` as a stream of its events. The stream ends with `agent_end`, and `result()` answers its messages.
 * Where `runAgentLoop` would reject, the stream shows the error as an assistant message and ends with `[]`.
 */
export function agentLoop(
	prompts: AgentMessage[],
	context: AgentContext,
	config: AgentLoopConfig,
	signal?: AbortSignal,
	streamFn: StreamFn = guardedByApi,
): EventStream<AgentEvent, AgentMessage[]> {
	return streamRun(config, (emit) => runAgentLoop(prompts, context, config, emit, signal, streamFn));
}

/** `runAgentLoopContinue` as a stream, see `agentLoop`; a context that cannot be continued throws at once. */
export function agentLoopContinue(
	context: AgentContext,
	config: AgentLoopConfig,
	signal?: AbortSignal,
	streamFn: StreamFn = guardedByApi,
): EventStream<AgentEvent, AgentMessage[]> {
	checkContinuable(context);
	return streamRun(config, (emit) => runAgentLoop([], context, config, emit, signal, streamFn));
}

/** Messages given to an aborted run would be lost to it, so they are left where they wait. */
async function takeSteering(config: AgentLoopConfig, signal: AbortSignal | undefined): Promise<AgentMessage[]> {
	return signal?.aborted ? [] : ((await config.getSteeringMessages?.()) ?? []);
}

function checkContinuable(context: AgentContext): void {
	const last = context.messages.at(-1);
	if (!last) throw new Error("Cannot continue: no messages in context");
	if (last.role === "assistant") throw new Error("Cannot continue from message role: assistant");
}

function streamRun(
	{ model }: AgentLoopConfig,
	run: (emit: AgentEventSink) => Promise<AgentMessage[]>,
): EventStream<AgentEvent, AgentMessage[]> {
	const stream = new EventStream<AgentEvent, AgentMessage[]>(
		(event) => event.type === "agent_end",
		(event) => (event.type === "agent_end" ? event.messages : []),
	);
	let isInTurn = false;
	const emit = (event: AgentEvent) => {
		if (event.type === "turn_start") isInTurn = true;
		if (event.type === "turn_end") isInTurn = false;
		stream.push(event);
	};
	run(emit).catch((error: unknown) => {
		const message: AgentMessage = { ...emptyMessage(model), stopReason: "error", errorMessage: describeError(error) };
		stream.push({ type: "message_start", message });
		stream.push({ type: "message_end", message });
		if (isInTurn) stream.push({ type: "turn_end", message, toolResults: [] });
		stream.push({ type: "agent_end", messages: [] });
	});
	return stream;
}
