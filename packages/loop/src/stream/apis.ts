import type { Model, SimpleStreamOptions, StreamFunction } from "@earendil-works/pi-ai";
import type { StreamFn } from "../types.ts";

/** pi-ai's adapters; each brings the library of its provider along, so that only the one in use is imported. */
const adapters = {
	"anthropic-messages": () => import("@earendil-works/pi-ai/api/anthropic-messages"),
	"azure-openai-responses": () => import("@earendil-works/pi-ai/api/azure-openai-responses"),
	"bedrock-converse-stream": () => import("@earendil-works/pi-ai/api/bedrock-converse-stream"),
	"google-generative-ai": () => import("@earendil-works/pi-ai/api/google-generative-ai"),
	"google-vertex": () => import("@earendil-works/pi-ai/api/google-vertex"),
	"mistral-conversations": () => import("@earendil-works/pi-ai/api/mistral-conversations"),
	"openai-codex-responses": () => import("@earendil-works/pi-ai/api/openai-codex-responses"),
	"openai-completions": () => import("@earendil-works/pi-ai/api/openai-completions"),
	"openai-responses": () => import("@earendil-works/pi-ai/api/openai-responses"),
};

/**
 * Asks a model through pi-ai's adapter for its wire format, imported at the first call. Unguarded: `guardStream` makes
 * it safe. Rejects for a wire format that pi-ai has no adapter for.
 */
export const streamByApi: StreamFn = async (model, context, options) => {
	const load = isAdapted(model.api) ? adapters[model.api] : undefined;
	if (!load) {
		const known = Object.keys(adapters).join(", ");
		throw new Error(`No adapter for the API "${model.api}" of the model ${model.id}; there are: ${known}.`);
	}
	const { streamSimple } = await load();
	return (streamSimple as StreamFunction<string, SimpleStreamOptions>)(model as Model<string>, context, options);
};

function isAdapted(api: string): api is keyof typeof adapters {
	return Object.hasOwn(adapters, api);
}
