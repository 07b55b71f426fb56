import type { Problem, ServerOptions } from "../rule.ts";
import { type ModelServer, startServer, type WireFormat } from "../server.ts";
import { encodeChat } from "./encode.ts";
import { chatRules } from "./rules.ts";

const chatFormat: WireFormat = {
	rules: chatRules,
	basePath: "/v1",
	isModelRequest: (method, path) => method === "POST" && path === "/v1/chat/completions",
	isModelList: (method, path) => method === "GET" && path === "/v1/models",
	listModels: (models) => ({
		object: "list",
		data: models.map((id) => ({ id, object: "model", created: 1_700_000_000, owned_by: "mock" })),
	}),
	wantsStream: (request) => request.body.stream === true,
	encode: encodeChat,
	encodeError: (error) => ({ data: JSON.stringify({ error }), part: "content" }),
	errorBody: (status, problem: Problem) => ({
		error: {
			message: problem.message,
			type: status >= 500 ? "server_error" : "invalid_request_error",
			param: problem.param ?? null,
			code: problem.code ?? null,
		},
	}),
};

/** Starts a strict mock of an OpenAI chat completions server. */
export function startChatServer(options: ServerOptions = {}): Promise<ModelServer> {
	return startServer(chatFormat, options);
}
