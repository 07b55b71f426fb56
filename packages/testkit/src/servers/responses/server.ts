import { errorBody, listModels } from "../openai/words.ts";
import type { ServerOptions } from "../rule.ts";
import { type ModelServer, startServer, type WireFormat } from "../server.ts";
import { encodeResponses, encodeResponsesError } from "./encode.ts";
import { responsesRules } from "./rules.ts";

const responsesFormat: WireFormat = {
	rules: responsesRules,
	basePath: "/v1",
	isModelRequest: (method, path) => method === "POST" && path === "/v1/responses",
	isModelList: (method, path) => method === "GET" && path === "/v1/models",
	listModels,
	wantsStream: (request) => request.body.stream === true,
	encode: encodeResponses,
	encodeError: encodeResponsesError,
	errorBody,
};

/** Starts a strict mock of an OpenAI Responses server. */
export function startResponsesServer(options: ServerOptions = {}): Promise<ModelServer> {
	return startServer(responsesFormat, options);
}
