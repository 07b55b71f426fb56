import type { JsonValue, ToolResultMessage } from "@earendil-works/pi-ai";
import { validateToolArguments } from "@earendil-works/pi-ai/utils/validation";
import { explainRefusal, isBroken, listCalls, type PlacedCall, type Reply } from "./calls.ts";
import { describeError } from "./faults.ts";
import { abandoned, type Grace, settleOrAbandon } from "./grace.ts";
import { serializeSink } from "./sink.ts";
import type { AgentContext, AgentEventSink, AgentLoopConfig, AgentTool, AgentToolResult } from "./types.ts";

const abortedBefore = "The call was not run: the request was aborted.";

/** The results of one reply's calls, in call order. */
export interface CallResults {
	toolResults: ToolResultMessage[];
	/** There were calls and every result asks to end the run. */
	terminate: boolean;
}

interface Outcome {
	result: AgentToolResult;
	isError: boolean;
	/** Absent when the tool did not run. */
	durationMs?: number;
}

interface ReadyCall {
	tool: AgentTool;
	args: unknown;
}

/** Everything that the calls of one reply share. */
interface Batch {
	reply: Reply;
	/** The assistant message is its last. */
	context: AgentContext;
	config: AgentLoopConfig;
	emit: AgentEventSink;
	signal: AbortSignal;
	grace: Grace;
}

/**
 * Runs the calls of a reply that may run and answers the others with the reason; exactly one result per call, in call
 * order, whatever tools and hooks do; none for a reply that broke off. Rejects only with what the sink threw, after the
 * running tools were stopped.
 */
export async function runCalls(
	reply: Reply,
	context: AgentContext,
	config: AgentLoopConfig,
	emit: AgentEventSink,
	signal: AbortSignal | undefined,
	grace: Grace,
): Promise<CallResults> {
	const calls = isBroken(reply.message) ? [] : listCalls(reply.message);
	if (calls.length === 0) return { toolResults: [], terminate: false };
	const stop = new AbortController();
	// By hand: a signal that joins both is made of weak references, which cost more than the rest of a call.
	const onAbort = () => stop.abort(signal?.reason);
	if (signal?.aborted) onAbort();
	else signal?.addEventListener("abort", onAbort, { once: true });
	const send = serializeSink(emit);
	const batch: Batch = {
		reply,
		context: { ...context, messages: [...context.messages, reply.message] },
		config,
		emit: (event) => {
			const sent = send(event);
			sent.catch((error: unknown) => stop.abort(error));
			return sent;
		},
		signal: stop.signal,
		grace,
	};
	const running: Promise<Outcome>[] = [];
	try {
		return await (mustRunAlone(calls, batch) ? runInTurn(calls, batch) : runTogether(calls, batch, running));
	} catch (error) {
		await Promise.allSettled(running);
		throw error;
	} finally {
		signal?.removeEventListener("abort", onAbort);
	}
}

function mustRunAlone(calls: PlacedCall[], { config, context }: Batch): boolean {
	if (config.toolExecution === "sequential") return true;
	return calls.some(({ call }) => findTool(context, call.name)?.executionMode === "sequential");
}

async function runInTurn(calls: PlacedCall[], batch: Batch): Promise<CallResults> {
	const collected = startCollecting();
	for (const placed of calls) {
		const prepared = await startCall(placed, batch);
		const outcome = "tool" in prepared ? await runCall(placed, prepared, batch) : prepared;
		await finishCall(placed, outcome, batch);
		await collected.add(placed, outcome, batch);
	}
	return collected.results();
}

async function runTogether(calls: PlacedCall[], batch: Batch, running: Promise<Outcome>[]): Promise<CallResults> {
	const prepared: { placed: PlacedCall; start: ReadyCall | Outcome }[] = [];
	for (const placed of calls) prepared.push({ placed, start: await startCall(placed, batch) });
	for (const { placed, start } of prepared) {
		running.push(runAndFinish(placed, start, batch));
	}
	// Results go out in call order, each as soon as those before it are out.
	const collected = startCollecting();
	for (const outcome of running) outcome.catch(() => undefined);
	for (const [index, { placed }] of prepared.entries()) {
		const outcome = await running[index];
		if (outcome) await collected.add(placed, outcome, batch);
	}
	return collected.results();
}

async function runAndFinish(placed: PlacedCall, start: ReadyCall | Outcome, batch: Batch): Promise<Outcome> {
	const outcome = "tool" in start ? await runCall(placed, start, batch) : start;
	await finishCall(placed, outcome, batch);
	return outcome;
}

async function startCall(placed: PlacedCall, batch: Batch): Promise<ReadyCall | Outcome> {
	const { call } = placed;
	await batch.emit({ type: "tool_execution_start", toolCallId: call.id, toolName: call.name, args: call.arguments });
	const refusal = explainRefusal(batch.reply, placed);
	if (refusal !== undefined) return fail(refusal);
	if (batch.signal.aborted) return fail(abortedBefore);

	const tool = findTool(batch.context, call.name);
	if (!tool) return fail(describeUnknownTool(call.name, batch.context));
	let args: unknown;
	try {
		const raw = tool.prepareArguments ? tool.prepareArguments(call.arguments) : call.arguments;
		args = validateToolArguments(tool, { ...call, arguments: raw as typeof call.arguments });
	} catch (error) {
		return fail(describeError(error));
	}
	return (await askBefore(placed, args, batch)) ?? { tool, args };
}

async function askBefore({ call }: PlacedCall, args: unknown, batch: Batch): Promise<Outcome | undefined> {
	const { beforeToolCall } = batch.config;
	if (!beforeToolCall) return undefined;
	const question = { assistantMessage: batch.reply.message, toolCall: call, args, context: batch.context };
	try {
		const asked = (async () => beforeToolCall(question, batch.signal))();
		const answer = await settleOrAbandon(asked, batch.signal, batch.grace);
		if (answer === abandoned || batch.signal.aborted) return fail(abortedBefore);
		if (!answer?.block) return undefined;
		return fail(answer.reason ?? `The call of ${call.name} was blocked.`, answer.terminate);
	} catch (error) {
		return fail(describeError(error));
	}
}

async function runCall(placed: PlacedCall, ready: ReadyCall, batch: Batch): Promise<Outcome> {
	if (batch.signal.aborted) return fail(abortedBefore);
	const started = batch.grace.clock.now();
	const { result, isError } = await execute(placed, ready, batch);
	const durationMs = Math.round(batch.grace.clock.now() - started);
	return { ...(await askAfter(placed, ready, { result, isError }, batch)), durationMs };
}

async function execute({ call }: PlacedCall, { tool, args }: ReadyCall, batch: Batch): Promise<Outcome> {
	let settled = false;
	const onUpdate = (partialResult: AgentToolResult) => {
		if (settled) return;
		const { id: toolCallId, name: toolName, arguments: sent } = call;
		// Nobody waits here: the sink keeps the order, and a sink that throws stops the batch.
		void batch.emit({ type: "tool_execution_update", toolCallId, toolName, args: sent, partialResult });
	};
	const work = (async () => tool.execute(call.id, args, batch.signal, onUpdate))();
	let outcome: Outcome;
	try {
		const result = await settleOrAbandon(work, batch.signal, batch.grace);
		if (result === abandoned) outcome = fail(describeAbandoned(batch.grace.ms));
		else if (isToolResult(result)) outcome = { result, isError: result.isError === true };
		else outcome = fail(`The tool ${tool.name} gave no valid result: its content is missing.`);
	} catch (error) {
		outcome = fail(describeToolError(error, batch.signal));
	}
	settled = true;
	return outcome;
}

async function askAfter({ call }: PlacedCall, { args }: ReadyCall, outcome: Outcome, batch: Batch): Promise<Outcome> {
	const { afterToolCall } = batch.config;
	if (!afterToolCall) return outcome;
	const question = { assistantMessage: batch.reply.message, toolCall: call, args, context: batch.context, ...outcome };
	try {
		const asked = (async () => afterToolCall(question, batch.signal))();
		const answer = await settleOrAbandon(asked, batch.signal, batch.grace);
		if (answer === abandoned || !answer) return outcome;
		const { isError = outcome.isError, ...fields } = answer;
		return { result: { ...outcome.result, ...fields }, isError };
	} catch (error) {
		return fail(describeError(error));
	}
}

async function finishCall({ call }: PlacedCall, { result, isError }: Outcome, batch: Batch): Promise<void> {
	await batch.emit({
		type: "tool_execution_end",
		toolCallId: call.id,
		toolName: call.name,
		result: { ...result, isError },
		isError,
	});
}

function startCollecting() {
	const toolResults: ToolResultMessage[] = [];
	let terminate = true;
	return {
		async add({ call }: PlacedCall, { result, isError, durationMs }: Outcome, { emit }: Batch) {
			const message: ToolResultMessage = {
				role: "toolResult",
				toolCallId: call.id,
				toolName: call.name,
				content: result.content,
				...(result.details === undefined ? {} : { details: result.details as JsonValue }),
				isError,
				timestamp: Date.now(),
				...(durationMs === undefined ? {} : { durationMs }),
			};
			toolResults.push(message);
			terminate &&= result.terminate === true;
			await emit({ type: "message_start", message });
			await emit({ type: "message_end", message });
		},
		results: (): CallResults => ({ toolResults, terminate: terminate && toolResults.length > 0 }),
	};
}

function fail(text: string, terminate?: boolean): Outcome {
	const result: AgentToolResult = { content: [{ type: "text", text }], details: undefined };
	if (terminate !== undefined) result.terminate = terminate;
	return { result, isError: true };
}

function findTool(context: AgentContext, name: string): AgentTool | undefined {
	return context.tools?.find((tool) => tool.name === name);
}

function isToolResult(value: unknown): value is AgentToolResult {
	return typeof value === "object" && value !== null && Array.isArray((value as AgentToolResult).content);
}

function describeUnknownTool(name: string, { tools = [] }: AgentContext): string {
	const known = tools.map((tool) => tool.name).join(", ");
	return `Unknown tool: ${name}. ${known ? `There are: ${known}.` : "There are no tools."}`;
}

function describeAbandoned(graceMs: number): string {
	return `The call was aborted and did not stop within ${graceMs} ms; it may have had effects and may still run.`;
}

function describeToolError(error: unknown, signal: AbortSignal): string {
	if (signal.aborted && error instanceof Error && error.name === "AbortError") {
		return "The call was aborted before it finished; it may have had effects.";
	}
	return describeError(error);
}
