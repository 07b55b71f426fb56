import type { ServerOptions } from "../rule.ts";
import { type ModelServer, startServer, type WireFormat } from "../server.ts";
import { encodeAnthropic, encodeAnthropicError } from "./encode.ts";
import { anthropicRules } from "./rules.ts";
import { errorBody, listModels } from "./words.ts";

const anthropicFormat: WireFormat = {
	rules: anthropicRules,
	basePath: "",
	isModelRequest: (method, path) => method === "POST" && path === "/v1/messages",
	isModelList: (method, path) => method === "GET" && path === "/v1/models",
	listModels,
	wantsStream: (request) => request.body.stream === true,
	encode: encodeAnthropic,
	encodeError: encodeAnthropicError,
	errorBody,
};

/** Starts a strict mock of an Anthropic Messages server. */
export function startAnthropicServer(options: ServerOptions = {}): Promise<ModelServer> {
	return startServer(anthropicFormat, options);
}
