import type {
	Api,
	AssistantMessage,
	AssistantMessageEvent,
	AssistantMessageEventStream,
	ImageContent,
	Message,
	Model,
	ModelThinkingLevel,
	SimpleStreamOptions,
	TextContent,
	Tool,
	ToolCall,
	ToolResultMessage,
	TranscriptContext,
} from "@earendil-works/pi-ai";
import type { Clock } from "./clock.ts";

/** Message kinds of an embedding program; it adds its own by declaration merging (each needs a `role`). */
// biome-ignore lint/suspicious/noEmptyInterface: an interface, because only interfaces merge.
export interface CustomAgentMessages {}

/** Whatever a transcript may hold: the messages that models understand and those of the embedding program. */
export type AgentMessage = Message | CustomAgentMessages[keyof CustomAgentMessages];

/** How hard a model should think, `off` included. */
export type ThinkingLevel = ModelThinkingLevel;

/** Whether the tool calls of one reply may overlap. */
export type ToolExecutionMode = "sequential" | "parallel";

/** One tool call block of an assistant message. */
export type AgentToolCall = ToolCall;

/** What a tool answers, as a whole or in part while it runs. */
export interface AgentToolResult<Details = unknown> {
	/** What the model gets to read. */
	content: (TextContent | ImageContent)[];
	/** Facts for logs and displays; plain JSON data; never sent to a model. */
	details: Details;
	/** The tool failed; the model sees `content` as an error. Throwing says the same without details. */
	isError?: boolean;
	/** Ask to end the run after this turn; it ends only if every result of the turn asks for it. */
	terminate?: boolean;
}

/** Takes partial results of a running tool; calls after the tool has settled are ignored. */
export type AgentToolUpdateCallback<Details = unknown> = (partial: AgentToolResult<Details>) => void;

/**
 * The arguments that a parameter schema accepts: read off the type mark of pi-schema builders or the `static` of
 * TypeBox schemas, `unknown` for plain JSON Schema.
 */
export type ToolArguments<Parameters> = Parameters extends { static: infer Value }
	? Value
	: [keyof Parameters & symbol] extends [never]
		? unknown
		: NonNullable<Parameters[keyof Parameters & symbol]>;

/** A tool that the loop can run: a declaration for the model and the code behind it. */
// biome-ignore lint/suspicious/noExplicitAny: a list of tools with different parameters has no common parameter type.
export interface AgentTool<Parameters extends object = any, Details = any> extends Tool<Parameters> {
	/** Its name on displays. */
	label: string;
	/** `sequential`: never beside another call of the same reply. Default: the loop's `toolExecution`. */
	executionMode?: ToolExecutionMode;
	/** Repairs the model's arguments before they are validated; may throw, which becomes the call's error result. */
	prepareArguments?(raw: unknown): unknown;
	/**
	 * Runs one call whose arguments parsed whole and match `parameters`.
	 *
	 * Rejecting is a normal way to fail: the message becomes the call's error result. When `signal` aborts, the tool
	 * should stop and settle; what it answers within the grace period is kept, later answers are dropped.
	 */
	execute(
		toolCallId: string,
		params: ToolArguments<Parameters>,
		signal: AbortSignal | undefined,
		onUpdate?: AgentToolUpdateCallback<Details>,
	): Promise<AgentToolResult<Details>>;
}

/** What a model call starts from. */
export interface AgentContext {
	/** Instructions that precede the transcript; empty for none. */
	systemPrompt: string;
	/** The transcript, oldest first. */
	messages: AgentMessage[];
	/** Tools that are declared to the model and may be called. */
	tools?: AgentTool[];
}

/** Everything the loop tells while it works, in order. */
export type AgentEvent =
	| { type: "agent_start" }
	| { type: "agent_end"; messages: AgentMessage[] }
	| { type: "turn_start" }
	| { type: "turn_end"; message: AgentMessage; toolResults: ToolResultMessage[] }
	| { type: "message_start"; message: AgentMessage }
	| { type: "message_update"; message: AgentMessage; assistantMessageEvent: AssistantMessageEvent }
	| { type: "message_end"; message: AgentMessage }
	| { type: "tool_execution_start"; toolCallId: string; toolName: string; args: unknown }
	| {
			type: "tool_execution_update";
			toolCallId: string;
			toolName: string;
			args: unknown;
			partialResult: AgentToolResult;
	  }
	| { type: "tool_execution_end"; toolCallId: string; toolName: string; result: AgentToolResult; isError: boolean };

/**
 * Takes events; the loop waits for each call before it goes on, so a slow sink slows the loop and loses nothing.
 * Must not throw: a throw ends the run with that error, after the running tools were told to stop.
 */
export type AgentEventSink = (event: AgentEvent) => void | Promise<void>;

/**
 * Asks a model for one reply. Should report failures inside the returned stream (final message with stop reason
 * `error` or `aborted`); a throw or rejection is turned into such a message by the loop.
 */
export type StreamFn = (
	model: Model<Api>,
	context: TranscriptContext,
	options?: SimpleStreamOptions,
) => AssistantMessageEventStream | Promise<AssistantMessageEventStream>;

/** What `beforeToolCall` sees. */
export interface BeforeToolCallContext {
	assistantMessage: AssistantMessage;
	toolCall: AgentToolCall;
	/** The validated arguments; the tool receives this very value. */
	args: unknown;
	/** The context of the turn, the assistant message included. */
	context: AgentContext;
}

/** What `beforeToolCall` may decide. */
export interface BeforeToolCallResult {
	/** Do not run the call; the model gets an error result. */
	block?: boolean;
	/** The text of that error result. */
	reason?: string;
	/** As `terminate` of a tool result, for the blocked call. */
	terminate?: boolean;
}

/** What `afterToolCall` sees. */
export interface AfterToolCallContext extends BeforeToolCallContext {
	result: AgentToolResult;
	isError: boolean;
}

/** Fields that replace those of the tool's result; what is left out stays, nothing is merged deeply. */
export interface AfterToolCallResult {
	content?: (TextContent | ImageContent)[];
	details?: unknown;
	isError?: boolean;
	terminate?: boolean;
}

/** What `shouldStopAfterTurn` sees. */
export interface ShouldStopAfterTurnContext {
	message: AssistantMessage;
	toolResults: ToolResultMessage[];
	/** The context after the turn, its messages included. */
	context: AgentContext;
	/** What the run would return if it stopped here. */
	newMessages: AgentMessage[];
}

/** How to run the loop: the model, request options that are passed on to the stream function, and hooks. */
export interface AgentLoopConfig extends SimpleStreamOptions {
	model: Model<Api>;
	/**
	 * Turns the transcript into messages for the model, once per model call, after `transformContext`. Drops what the
	 * model should not see. Must not throw: a throw is a programming error and ends the run with it.
	 */
	convertToLlm: (messages: AgentMessage[]) => Message[] | Promise<Message[]>;
	/**
	 * Changes the transcript for this one model call, for instance prunes it. Gets a copy of the list. Must not throw
	 * (as `convertToLlm`); should settle soon after `signal` aborts.
	 */
	transformContext?: (messages: AgentMessage[], signal?: AbortSignal) => AgentMessage[] | Promise<AgentMessage[]>;
	/**
	 * The key for this one model call; `undefined` keeps `apiKey`. May throw: the turn then ends with an error message
	 * and no request is sent.
	 */
	getApiKey?: (provider: string) => string | undefined | Promise<string | undefined>;
	/**
	 * Messages that were given while the run works; asked for at the start of the run and after the tool calls of each
	 * turn, not after an error or abort. They open the next turn. Must not throw.
	 */
	getSteeringMessages?: () => AgentMessage[] | Promise<AgentMessage[]>;
	/**
	 * Messages that wait for the end of the run; asked for when it would end normally. They start another turn. Must
	 * not throw.
	 */
	getFollowUpMessages?: () => AgentMessage[] | Promise<AgentMessage[]>;
	/**
	 * Called before each call that may run, in call order and one at a time, after validation. May refuse the call.
	 * May throw: the call is then refused with that message. Must settle soon after `signal` aborts; otherwise the loop
	 * stops waiting after the grace period and refuses the call.
	 */
	beforeToolCall?: (
		context: BeforeToolCallContext,
		signal?: AbortSignal,
	) => BeforeToolCallResult | undefined | Promise<BeforeToolCallResult | undefined>;
	/**
	 * Called after each call that did run, also when it failed; may replace parts of its result. May throw: the result
	 * becomes an error with that message. Abort as `beforeToolCall`; the tool's own result then stands.
	 */
	afterToolCall?: (
		context: AfterToolCallContext,
		signal?: AbortSignal,
	) => AfterToolCallResult | undefined | Promise<AfterToolCallResult | undefined>;
	/**
	 * Called after `turn_end` of a turn without error or abort; `true` ends the run before steering and follow-ups are
	 * asked for. Must not throw.
	 */
	shouldStopAfterTurn?: (context: ShouldStopAfterTurnContext) => boolean | Promise<boolean>;
	/** Default `parallel`: calls of one reply overlap, results keep the order of the calls. */
	toolExecution?: ToolExecutionMode;
	/** How long an aborted model stream, tool or hook may take to settle before the loop goes on. Default 5,000 ms. */
	abortGraceMs?: number;
	/** Default: the clock of the machine. */
	clock?: Clock;
}
