export { cleanToolName } from "./calls.ts";
export { type Clock, systemClock } from "./clock.ts";
export { agentLoop, agentLoopContinue, runAgentLoop, runAgentLoopContinue } from "./loop.ts";
export { loadAdapter, streamByApi, wireFormats } from "./stream/apis.ts";
export type { DebugRecord, DebugSink } from "./stream/exchange.ts";
export { classifyFailure, type FailureKind, failureDiagnostic, type ProviderFailure } from "./stream/failure.ts";
export { defaultLimits, type GuardOptions, guardStream } from "./stream/guard.ts";
export { isContextOverflow } from "./stream/overflow.ts";
export { createRedactor, type Redactor } from "./stream/redact.ts";
export { isRetryable, type RetrySettings, retryDelay } from "./stream/retry.ts";
export type { StreamLimits } from "./stream/watch.ts";
export { runTurn, type TurnResult } from "./turn.ts";
export type {
	AfterToolCallContext,
	AfterToolCallResult,
	AgentContext,
	AgentEvent,
	AgentEventSink,
	AgentLoopConfig,
	AgentMessage,
	AgentTool,
	AgentToolCall,
	AgentToolResult,
	AgentToolUpdateCallback,
	BeforeToolCallContext,
	BeforeToolCallResult,
	CustomAgentMessages,
	ShouldStopAfterTurnContext,
	StreamFn,
	ThinkingLevel,
	ToolArguments,
	ToolExecutionMode,
} from "./types.ts";
