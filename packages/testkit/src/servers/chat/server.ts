import { errorBody, listModels } from "../openai/words.ts";
import type { ServerOptions } from "../rule.ts";
import { type ModelServer, startServer, type WireFormat } from "../server.ts";
import { encodeChat } from "./encode.ts";
import { chatRules } from "./rules.ts";

const chatFormat: WireFormat = {
	rules: chatRules,
	basePath: "/v1",
	isModelRequest: (method, path) => method === "POST" && path === "/v1/chat/completions",
	isModelList: (method, path) => method === "GET" && path === "/v1/models",
	listModels,
	wantsStream: (request) => request.body.stream === true,
	encode: encodeChat,
	encodeError: (error) => ({ data: JSON.stringify({ error }), part: "content" }),
	errorBody,
};

/** Starts a strict mock of an OpenAI chat completions server. */
export function startChatServer(options: ServerOptions = {}): Promise<ModelServer> {
	return startServer(chatFormat, options);
}
