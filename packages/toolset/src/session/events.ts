import type { AgentEvent, FailureKind } from "@prime-agent/loop";

/** Why a run ended; only `stop` is a success. */
export type EndReason = "stop" | "length" | "round_limit" | "turn_limit" | "error" | "aborted";

/** How a run ended. */
export interface RunEnd {
	reason: EndReason;
	/** In words for people; for every reason but `stop`. */
	error?: string;
	/** What kind of fault of the model call it was, for the reason `error`. */
	failure?: FailureKind;
}

/** Where a user message comes from: the host's input, the host while the agent works, or the loop detector. */
export type MessageSource = "input" | "steering" | "loop_warning";

/** Tokens over all model calls of a session and its subagents. */
export interface TokenUsage {
	/** Sent, those read from and written to a cache included. */
	prompt: number;
	/** Received, reasoning included. */
	output: number;
}

type PlainEvent = Exclude<AgentEvent, { type: "agent_end" | "tool_execution_start" | "message_start" | "message_end" }>;
type MessageEvent = Extract<AgentEvent, { type: "message_start" | "message_end" }>;
type CallEvent = Extract<AgentEvent, { type: "tool_execution_start" }>;

/**
 * What a session tells, in order. The events of the loop, with additions:
 * user messages carry their source; a starting call carries its tool's name for people and what it is about; the result
 * in `tool_execution_end` holds the whole output in `details.output`, while the message for the model may be cut.
 */
export type SessionEvent =
	| PlainEvent
	| (MessageEvent & { source?: MessageSource })
	| (CallEvent & { label: string; subject: string })
	| { type: "agent_end"; end: RunEnd; usage: TokenUsage }
	| { type: "session_start"; provider: string; model: string }
	| { type: "session_end"; reason: string }
	| { type: "warning"; kind: "context" | "loop" | "limit"; message: string }
	| { type: "retry"; attempt: number; delayMs: number; error: string }
	| { type: "subagent"; agentId: string; phase: "spawned" | "completed" | "failed" | "closed" }
	| { type: "subagent_event"; agentId: string; event: SessionEvent };

/** Takes events of a session; what it throws is reported as a process warning and stops nothing. */
export type SessionListener = (event: SessionEvent) => void;
