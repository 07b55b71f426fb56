import type { ThinkingLevel } from "@prime-agent/loop";
import type { OutputLimitOverrides } from "../truncation.ts";

/** The knobs of a session. */
export interface SessionSettings {
	/** Model replies over the whole session; 0 for no limit. */
	maxTurns: number;
	/** Replies with tool calls for one input; 0 for no limit. */
	maxToolRounds: number;
	/** Milliseconds that a command may take unless the call says otherwise. Default: the profile's. */
	commandTimeoutMs?: number;
	/** Upper limit for the milliseconds that a call may ask for. */
	maxCommandTimeoutMs: number;
	/** How hard the model should think; `undefined` leaves it to the provider. */
	reasoningEffort: ThinkingLevel | undefined;
	/** Whether the provider is asked to keep the beginning of the conversation, which makes the next request cheaper. */
	cachePrompts: boolean;
	/** Limits for single tools instead of the usual ones. */
	outputLimits: OutputLimitOverrides;
	/** Calls that the loop detector looks at; 0 switches it off. */
	loopWindow: number;
	/** How deep subagents may spawn subagents; 0 for none. */
	maxSubagentDepth: number;
	/** The share of the context window from which on the session warns. */
	contextWarnRatio: number;
	/** Further attempts for one model call that failed before it said anything. */
	maxRetries: number;
	/** Milliseconds before the first retry; doubles with each, up to a minute. */
	retryBaseMs: number;
	/** The last layer of the system prompt. */
	userInstructions?: string;
}

/** The settings that hold unless a host says otherwise. */
export const defaultSettings: SessionSettings = {
	maxTurns: 0,
	maxToolRounds: 200,
	maxCommandTimeoutMs: 600_000,
	reasoningEffort: undefined,
	cachePrompts: true,
	outputLimits: {},
	loopWindow: 10,
	maxSubagentDepth: 1,
	contextWarnRatio: 0.8,
	maxRetries: 2,
	retryBaseMs: 1000,
};
