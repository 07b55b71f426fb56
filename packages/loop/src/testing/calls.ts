import { runTurn, type TurnResult } from "../turn.ts";
import type { AgentEventSink, AgentLoopConfig, AgentTool } from "../types.ts";
import { type call, echoTool, type ReplyOptions, reply, scriptModel, testConfig, testContext, user } from "./script.ts";

/** What a turn with tool calls is run with; everything has a default. */
export interface CallSetup {
	tools?: AgentTool[];
	config?: Partial<AgentLoopConfig>;
	reply?: ReplyOptions;
	signal?: AbortSignal;
	emit?: AgentEventSink;
}

/** Runs a turn whose reply is these calls. */
export function runCalls(calls: ReturnType<typeof call>[], setup: CallSetup = {}): Promise<TurnResult> {
	const { streamFn } = scriptModel(reply(calls, setup.reply));
	const context = testContext([user("go")], setup.tools ?? [echoTool()]);
	return runTurn(context, testConfig(setup.config), setup.emit ?? (() => undefined), setup.signal, streamFn);
}
