import { randomUUID } from "node:crypto";
import {
	type AgentEvent,
	type AgentMessage,
	type BeforeToolCallContext,
	classifyFailure,
	systemClock,
	type TurnResult,
} from "@prime-agent/loop";
import { LoopDetector } from "../loop-detection.ts";
import { findKeyVariable } from "../profiles/access.ts";
import { describeModel } from "../profiles/models.ts";
import { PathLocks } from "../tools/paths.ts";
import { runTurnWithRetries } from "./attempts.ts";
import { ContextWatch } from "./context-watch.ts";
import type { MessageSource, RunEnd, SessionEvent, SessionListener, TokenUsage } from "./events.ts";
import { EventFeed } from "./feed.ts";
import { createLoopConfig, createRetrySettings } from "./request.ts";
import type { SessionSettings } from "./settings.ts";
import { type SessionOptions, type SessionSetup, setUpSession } from "./setup.ts";
import { type ChildRequest, type ChildSession, Subagents } from "./subagents.ts";

/**
 * What a session can do next: take input, only queue messages, or nothing any more. `awaiting_input` is idle as well: the
 * host has said that the last reply was a question.
 */
export type SessionState = "idle" | "awaiting_input" | "processing" | "closed";

const stateProblems = {
	awaiting_input: "The session waits for an answer already. Submit it.",
	processing: "The session is still working. Use steer or followUp, or wait for its end.",
	closed: "The session is closed. Open a new one.",
};

/** Something that the session cannot do in its state. */
export class SessionStateError extends Error {
	readonly code = "session_state";

	constructor(state: Exclude<SessionState, "idle">) {
		super(stateProblems[state]);
		this.name = "SessionStateError";
	}
}

/** Inherited by subagents and not for hosts. */
interface Lineage {
	depth: number;
	locks: PathLocks;
	parent?: CodingSession;
}

type AssistantReply = TurnResult["message"];

/**
 * A coding agent with its conversation: takes inputs one after the other, works on each until the model has nothing
 * more to do, and tells everything as events. Lives in memory only.
 */
export class CodingSession implements ChildSession {
	/** Unique. */
	readonly id = randomUUID();
	readonly #options: SessionOptions;
	readonly #lineage: Lineage;
	readonly #subagents: Subagents;
	readonly #setup: SessionSetup;
	readonly #detector: LoopDetector | undefined;
	readonly #watch: ContextWatch;
	readonly #feed = new EventFeed();
	readonly #stop = new AbortController();
	readonly #history: AgentMessage[] = [];
	readonly #sources = new WeakMap<AgentMessage, MessageSource>();
	readonly #steering: AgentMessage[] = [];
	readonly #followUps: string[] = [];
	readonly #usage: TokenUsage = { prompt: 0, output: 0 };
	#state: SessionState = "idle";
	#run: Promise<RunEnd> | undefined;
	#closing: Promise<void> | undefined;
	#turns = 0;

	private constructor(options: SessionOptions, lineage: Lineage, subagents: Subagents, setup: SessionSetup) {
		this.#options = options;
		this.#lineage = lineage;
		this.#subagents = subagents;
		this.#setup = setup;
		if (options.listener) this.#feed.subscribe(options.listener);
		const { loopWindow, contextWarnRatio } = setup.settings;
		this.#detector = loopWindow > 0 ? new LoopDetector(loopWindow) : undefined;
		this.#watch = new ContextWatch(options.access.model.contextWindow, contextWarnRatio);
	}

	/** Opens a session: builds the tools and the system prompt, reading the project's documents. Asks no model. */
	static async open(options: SessionOptions): Promise<CodingSession> {
		return CodingSession.#openWith(options, { depth: 0, locks: new PathLocks() });
	}

	static async #openWith(options: SessionOptions, lineage: Lineage): Promise<CodingSession> {
		let session: CodingSession | undefined;
		const subagents = new Subagents({
			environment: options.environment,
			startChild: (request) => session!.#startChild(request),
			emit: (event) => session!.#tell(event),
		});
		const setup = await setUpSession(options, lineage.locks, ({ maxSubagentDepth }) =>
			lineage.depth < maxSubagentDepth ? subagents.createTools() : [],
		);
		session = new CodingSession(options, lineage, subagents, setup);
		session.#tell({ type: "session_start", provider: options.profile.provider, model: options.access.model.id });
		return session;
	}

	/** What the session can do now. */
	get state(): SessionState {
		return this.#state;
	}

	/** Calls `listener` with each event from now on; the function that it gives back ends that. */
	subscribe(listener: SessionListener): () => void {
		return this.#feed.subscribe(listener);
	}

	/** The events from now on until the session is closed; a slow reader misses none. */
	events(): AsyncIterableIterator<SessionEvent> {
		return this.#feed.events();
	}

	/**
	 * Says that the last reply was a question, so that the next input counts as its answer; whether one was cannot be
	 * seen from outside. Throws a `SessionStateError` unless the session is idle.
	 */
	awaitInput(): void {
		if (this.#state !== "idle") throw new SessionStateError(this.#state);
		this.#state = "awaiting_input";
	}

	/** Tokens so far, those of subagents included. */
	get usage(): Readonly<TokenUsage> {
		return this.#usage;
	}

	/** Model replies so far; failed ones do not count. */
	get turns(): number {
		return this.#turns;
	}

	/** The text of the last reply. */
	get lastText(): string {
		const last = this.#history.findLast((message) => message.role === "assistant");
		return last ? readText(last) : "";
	}

	/** Changes how hard the model thinks from its next call on. */
	set reasoningEffort(effort: SessionSettings["reasoningEffort"]) {
		this.#setup.settings.reasoningEffort = effort;
	}

	/**
	 * Takes an input and works on it and on the follow-ups until the end, which it answers. Rejects with a
	 * `SessionStateError` while the session works and after it is closed. Errors and aborts close the session.
	 */
	async submit(text: string): Promise<RunEnd> {
		if (this.#state !== "idle" && this.#state !== "awaiting_input") throw new SessionStateError(this.#state);
		this.#state = "processing";
		this.#run = this.#work(text);
		const end = await this.#run;
		if (end.reason === "error" || end.reason === "aborted") await this.close(end.reason);
		else if (this.#closing === undefined) this.#state = "idle";
		return end;
	}

	/** Adds a message that the model reads after the running tools, before its next reply; never stops anything. */
	steer(text: string): void {
		this.#steering.push(this.#message(text, "steering"));
	}

	/** Adds an input that is taken when the current one is done. */
	followUp(text: string): void {
		this.#followUps.push(text);
	}

	/**
	 * Stops what runs, ends every process that commands left behind, closes the subagents. Safe to call at any time and
	 * twice; takes about three seconds at most.
	 */
	close(reason = "closed"): Promise<void> {
		this.#closing ??= this.#close(reason);
		return this.#closing;
	}

	async #close(reason: string): Promise<void> {
		this.#state = "closed";
		this.#stop.abort();
		await Promise.all([this.#run, this.#subagents.closeAll()]);
		if (this.#lineage.depth === 0) await this.#options.environment.cleanup();
		this.#tell({ type: "session_end", reason });
	}

	async #work(text: string): Promise<RunEnd> {
		for (let input = text; ; ) {
			this.#tell({ type: "agent_start" });
			const end = await this.#handleInput(input).catch(
				(error: unknown): RunEnd => ({
					reason: "error",
					error: error instanceof Error ? error.message : String(error),
				}),
			);
			this.#tell({ type: "agent_end", end, usage: { ...this.#usage } });
			const next = end.reason === "stop" ? this.#followUps.shift() : undefined;
			if (next === undefined) return end;
			input = next;
		}
	}

	/** Turn after turn until the model answers without calls or something ends it. */
	async #handleInput(text: string): Promise<RunEnd> {
		const { maxToolRounds, maxTurns } = this.#setup.settings;
		let opening = [this.#message(text, "input"), ...this.#steering.splice(0)];
		for (let rounds = 0; ; ) {
			if (maxToolRounds > 0 && rounds >= maxToolRounds) {
				return this.#reachLimit("round_limit", `after ${rounds} rounds of tool calls`);
			}
			if (maxTurns > 0 && this.#turns >= maxTurns) {
				return this.#reachLimit("turn_limit", `after ${this.#turns} model replies`);
			}
			const { message, toolResults } = await this.#takeTurn(opening);
			opening = [];
			if (message.stopReason === "error" || message.stopReason === "aborted") return this.#describeFailure(message);
			if (toolResults.length > 0) {
				rounds++;
				opening.push(...this.#checkLoop(message));
			} else if (message.stopReason === "length") {
				return { reason: "length", error: "The reply was cut at the model's output limit." };
			} else if (this.#steering.length === 0 && message.rawStopReason !== "pause_turn") {
				return { reason: "stop" };
			}
			opening.unshift(...this.#steering.splice(0));
		}
	}

	#describeFailure(message: AssistantReply): RunEnd {
		if (message.stopReason === "aborted") return { reason: "aborted", error: "The run was interrupted." };
		const error = message.errorMessage ?? "The model call failed.";
		const failure = classifyFailure(message)?.kind;
		if (failure === "context_overflow") {
			this.#tell({
				type: "warning",
				kind: "context",
				message: "The conversation no longer fits into the model's context.",
			});
		}
		const hint = failure === "auth" ? ` (check the key in ${findKeyVariable(this.#options.profile.provider)})` : "";
		return { reason: "error", error: error + hint, ...(failure ? { failure } : {}) };
	}

	#reachLimit(reason: "round_limit" | "turn_limit", when: string): RunEnd {
		const error = `The limit of the session was reached ${when}; the task may be unfinished.`;
		this.#tell({ type: "warning", kind: "limit", message: error });
		return { reason, error };
	}

	async #takeTurn(opening: readonly AgentMessage[]): Promise<TurnResult> {
		this.#history.push(...opening);
		const { settings, systemPrompt, registry } = this.#setup;
		const { clock, streamFn } = this.#options;
		const turn = await runTurnWithRetries({
			context: { systemPrompt, messages: this.#history, tools: registry.list() },
			config: {
				...createLoopConfig(this.#options.access, settings, this.id),
				...(clock ? { clock } : {}),
				beforeToolCall: (call, signal) => this.#askGate(call, signal),
			},
			emit: (event) => this.#forward(event),
			signal: this.#stop.signal,
			streamFn,
			opening,
			clock: clock ?? systemClock,
			retry: createRetrySettings(settings),
			onRetry: (attempt, delayMs, error) => this.#tell({ type: "retry", attempt, delayMs, error }),
		});
		const { message, toolResults } = turn;
		// The whole outputs were told; keeping them would only fill the memory.
		this.#history.push(message, ...toolResults.map(({ details: _details, ...result }) => result as AgentMessage));
		this.#addUsage(message);
		if (message.stopReason !== "error" && message.stopReason !== "aborted") this.#turns++;
		const warning = this.#watch.check(systemPrompt, this.#history);
		if (warning) this.#tell({ type: "warning", kind: "context", message: warning });
		return turn;
	}

	async #askGate({ toolCall, args }: BeforeToolCallContext, signal: AbortSignal | undefined) {
		const description = await this.#setup.registry.describe(toolCall.name, args);
		const reason = await this.#options.gate?.check(description, signal);
		return reason === undefined ? undefined : { block: true, reason };
	}

	#checkLoop(message: AssistantReply): AgentMessage[] {
		for (const block of message.content) {
			if (block.type === "toolCall") this.#detector?.add(block.name, block.arguments);
		}
		const length = this.#detector?.findPattern();
		if (length === undefined) return [];
		const calls = length === 1 ? "the same call" : `the same ${length} calls`;
		const text = `You have made ${calls} again and again over your last ${this.#setup.settings.loopWindow} calls. That leads nowhere: look at the results and try something else, or report what stops you.`;
		this.#tell({ type: "warning", kind: "loop", message: text });
		return [this.#message(text, "loop_warning")];
	}

	async #startChild(request: ChildRequest): Promise<ChildSession> {
		const { access, profile } = this.#options;
		const model =
			request.model === undefined ? access.model : describeModel(profile.provider, request.model, access.model.baseUrl);
		const child = await CodingSession.#openWith(
			{
				...this.#options,
				access: { ...access, model },
				environment: request.environment,
				settings: { ...this.#setup.settings, maxTurns: request.maxTurns },
				listener: request.listener,
			},
			{ depth: this.#lineage.depth + 1, locks: this.#lineage.locks, parent: this },
		);
		if (this.#stop.signal.aborted) await child.close();
		return child;
	}

	#message(text: string, source: MessageSource): AgentMessage {
		const message: AgentMessage = { role: "user", content: text, timestamp: Date.now() };
		this.#sources.set(message, source);
		return message;
	}

	#addUsage({ usage }: AssistantReply): void {
		const prompt = usage.input + usage.cacheRead + usage.cacheWrite;
		for (let session: CodingSession | undefined = this; session; session = session.#lineage.parent) {
			session.#usage.prompt += prompt;
			session.#usage.output += usage.output;
		}
	}

	async #forward(event: AgentEvent): Promise<void> {
		if (event.type === "tool_execution_start") {
			const { label, subject } = await this.#setup.registry.describe(event.toolName, event.args);
			this.#tell({ ...event, label, subject });
		} else if (event.type === "message_start" || event.type === "message_end") {
			const source = this.#sources.get(event.message);
			this.#tell(source ? { ...event, source } : event);
		} else if (event.type !== "agent_end") this.#tell(event);
	}

	#tell(event: SessionEvent): void {
		this.#feed.tell(event);
	}
}

function readText(message: AssistantReply): string {
	return message.content.map((block) => (block.type === "text" ? block.text : "")).join("");
}
