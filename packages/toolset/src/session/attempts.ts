import {
	type AgentContext,
	type AgentEvent,
	type AgentEventSink,
	type AgentLoopConfig,
	type AgentMessage,
	type Clock,
	classifyFailure,
	type RetrySettings,
	retryDelay,
	runTurn,
	type StreamFn,
	type TurnResult,
} from "@prime-agent/loop";

/** One turn with its retries. */
export interface AttemptParts {
	context: AgentContext;
	config: AgentLoopConfig;
	emit: AgentEventSink;
	signal: AbortSignal;
	streamFn: StreamFn;
	/** Messages at the end of the context that this turn announces. */
	opening: readonly AgentMessage[];
	retry: RetrySettings;
	clock: Clock;
	/** Told before each wait. */
	onRetry(attempt: number, delayMs: number, error: string): void;
}

type AssistantEnd = Extract<AgentMessage, { role: "assistant" }>;

function isSilent(event: AgentEvent): boolean {
	if (event.type === "message_start") return event.message.role === "assistant";
	return event.type === "message_update" && /^(text|thinking)_start$/.test(event.assistantMessageEvent.type);
}

/**
 * Passes on the events of one attempt, but holds back the beginning of a reply until it says something: a reply that
 * fails before may be dropped without a trace.
 */
class AttemptFilter {
	readonly #emit: AgentEventSink;
	readonly #isFirst: boolean;
	readonly #chooseDelay: (message: AssistantEnd) => number | undefined;
	#held: AgentEvent[] = [];
	#hasSpoken = false;
	/** Set when the reply was dropped. */
	dropped: { delayMs: number; error: string } | undefined;

	constructor(emit: AgentEventSink, isFirst: boolean, chooseDelay: (message: AssistantEnd) => number | undefined) {
		this.#emit = emit;
		this.#isFirst = isFirst;
		this.#chooseDelay = chooseDelay;
	}

	async take(event: AgentEvent): Promise<void> {
		if (event.type === "turn_start" && !this.#isFirst) return;
		if (this.dropped) return;
		if (isSilent(event) && !this.#hasSpoken) {
			this.#held.push(event);
			return;
		}
		if (event.type === "message_end" && event.message.role === "assistant" && !this.#hasSpoken) {
			const delayMs = event.message.stopReason === "error" ? this.#chooseDelay(event.message) : undefined;
			if (delayMs !== undefined) {
				this.dropped = { delayMs, error: event.message.errorMessage ?? "unknown error" };
				return;
			}
		}
		if (event.type === "message_update" || this.#isReplyEnd(event)) await this.#speak();
		await this.#emit(event);
	}

	#isReplyEnd(event: AgentEvent): boolean {
		return event.type === "message_end" && event.message.role === "assistant";
	}

	async #speak(): Promise<void> {
		this.#hasSpoken = true;
		const held = this.#held;
		this.#held = [];
		for (const event of held) await this.#emit(event);
	}
}

function waitFor(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
	return new Promise((resolve) => {
		if (signal.aborted) return resolve();
		const cancel = clock.after(ms, finish);
		function finish() {
			cancel();
			signal.removeEventListener("abort", finish);
			resolve();
		}
		signal.addEventListener("abort", finish, { once: true });
	});
}

/**
 * Runs one turn; a model call that fails in a passing way before its reply says anything is made again. Silence of the
 * server beyond the stream's limits is not: the wait was long already. Each reply is told once, whatever it took.
 */
export async function runTurnWithRetries(parts: AttemptParts): Promise<TurnResult> {
	const { context, config, emit, signal, streamFn, opening, retry, clock, onRetry } = parts;
	for (let attempt = 1; ; attempt++) {
		const filter = new AttemptFilter(emit, attempt === 1, (message) => {
			const failure = classifyFailure(message);
			if (!failure || signal.aborted) return undefined;
			if (failure.kind === "timeout" && failure.status === undefined) return undefined;
			return retryDelay(failure, attempt, retry);
		});
		const announced = attempt === 1 ? opening : [];
		const turn = await runTurn(context, config, (event) => filter.take(event), signal, streamFn, announced);
		if (!filter.dropped) return turn;
		onRetry(attempt, filter.dropped.delayMs, filter.dropped.error);
		await waitFor(clock, filter.dropped.delayMs, signal);
	}
}
