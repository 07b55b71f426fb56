import type { Api, AssistantMessage, Model, ToolResultMessage } from "@earendil-works/pi-ai";
import {
	type AgentEvent,
	type AgentMessage,
	type AgentTool,
	runTurn,
	type StreamFn,
	type ThinkingLevel,
} from "@prime-agent/loop";
import type { SessionContext } from "./context.ts";
import { isRefusal, type Registry } from "./registry.ts";

/** What a turn needs of its session. */
export interface TurnSetting {
	readonly model: Model<Api>;
	readonly thinkingLevel: ThinkingLevel;
	readonly sessionId: string;
	readonly systemPrompt: string;
	readonly tools: readonly AgentTool[];
	/** The conversation, `opening` messages included. */
	readonly context: SessionContext;
	readonly registry: Registry;
	readonly streamFn: StreamFn;
	/** Records and forwards; the turn waits for it. */
	readonly emit: (event: AgentEvent) => Promise<void>;
}

/** What a turn added. */
export interface TurnOutcome {
	readonly message: AssistantMessage;
	readonly toolResults: readonly ToolResultMessage[];
	/** The tools asked to end the run. */
	readonly terminate: boolean;
}

/** Asks the model once and runs the calls of its reply; `opening` messages stand at the end of the context. */
export async function takeTurn(
	setting: TurnSetting,
	opening: readonly AgentMessage[],
	signal: AbortSignal,
): Promise<TurnOutcome> {
	const { registry, model, context } = setting;
	const said = context.messages();
	const passed = await registry.pass("context", { messages: said });
	const messages = isRefusal(passed) ? said : [...passed.messages];
	return runTurn(
		{ systemPrompt: setting.systemPrompt, messages, tools: [...setting.tools] },
		{
			model,
			sessionId: setting.sessionId,
			...(setting.thinkingLevel === "off" ? {} : { reasoning: setting.thinkingLevel }),
			convertToLlm: (all) => context.toRequest(all, model),
			onPayload: async (payload) => {
				const request = await registry.pass("request", { payload });
				if (isRefusal(request)) throw new Error(request.refuse);
				return request.payload;
			},
			beforeToolCall: async ({ toolCall, args }) => {
				const call = await registry.pass("tool_call", { toolName: toolCall.name, toolCallId: toolCall.id, args });
				return isRefusal(call) ? { block: true, reason: call.refuse } : undefined;
			},
			afterToolCall: async ({ toolCall, result, isError }) => {
				const value = { toolName: toolCall.name, toolCallId: toolCall.id, result, isError };
				const passed = await registry.pass("tool_result", value);
				return isRefusal(passed) ? undefined : { ...passed.result, isError: passed.isError };
			},
		},
		setting.emit,
		signal,
		setting.streamFn,
		opening,
	);
}
