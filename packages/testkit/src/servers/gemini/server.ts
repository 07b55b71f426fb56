import type { ServerOptions } from "../rule.ts";
import { type ModelServer, startServer, type WireFormat } from "../server.ts";
import { encodeGemini } from "./encode.ts";
import { geminiRules } from "./rules.ts";
import { errorBody, listModels } from "./words.ts";

const geminiFormat: WireFormat = {
	rules: geminiRules,
	basePath: "/v1beta",
	isModelRequest: (method, path) =>
		method === "POST" && /^\/v1beta\/models\/[^/:]+:(stream)?[gG]enerateContent$/.test(path),
	isModelList: (method, path) => method === "GET" && path === "/v1beta/models",
	listModels,
	wantsStream: (request) => /:streamGenerateContent\?(.*&)?alt=sse/.test(request.path),
	encode: encodeGemini,
	encodeError: (error) => ({ data: JSON.stringify({ error }), part: "content" }),
	errorBody,
};

/** Starts a strict mock of a Gemini server. */
export function startGeminiServer(options: ServerOptions = {}): Promise<ModelServer> {
	return startServer(geminiFormat, options);
}
