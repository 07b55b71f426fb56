/** What tests of the workspace use: mock model servers, a scripted model, a temporary home, real processes. */

export { fakeAgentPath } from "./agent-tui/script.ts";
export { type TempHome, tempHome } from "./home/temp.ts";
export { findPairingFault } from "./model/pairing.ts";
export {
	type ErrorStep,
	fail,
	type ModelCall,
	type ModelStep,
	type ScriptedModel,
	scriptedModel,
} from "./model/scripted.ts";
export {
	type LiveProcess,
	type ProcessOptions,
	type ProcessResult,
	runProcess,
	type SignalPlan,
	startProcess,
} from "./process/run.ts";
export { waitFor } from "./process/wait.ts";
export { startAnthropicServer } from "./servers/anthropic/server.ts";
export { startChatServer } from "./servers/chat/server.ts";
export { startGeminiServer } from "./servers/gemini/server.ts";
export { type PrefixReport, sharedPrefix } from "./servers/prefix.ts";
export type { RecordedRequest } from "./servers/request.ts";
export { startResponsesServer } from "./servers/responses/server.ts";
export type { ServerOptions } from "./servers/rule.ts";
export type { ModelServer, Rejection } from "./servers/server.ts";
export {
	type RawOptions,
	type RawStep,
	type ReplyOptions,
	type ReplyStep,
	raw,
	reply,
	type ScriptedBlock,
	type ScriptedCall,
	type ScriptedFinish,
	type ScriptedUsage,
	type Step,
	type WireOptions,
} from "./servers/step.ts";
