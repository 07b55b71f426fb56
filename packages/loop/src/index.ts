export { type Clock, systemClock } from "./clock.ts";
export { agentLoop, agentLoopContinue, runAgentLoop, runAgentLoopContinue } from "./loop.ts";
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
