import type { Api, Model, ProviderStreams, SimpleStreamOptions, StreamFunction } from "@earendil-works/pi-ai";
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
	"pi-messages": () => import("@earendil-works/pi-ai/api/pi-messages"),
};

const loaded: Partial<Record<keyof typeof adapters, ProviderStreams>> = {};

/** The names of all wire formats that models can be asked in. */
export const wireFormats: readonly string[] = Object.keys(adapters);

/**
 * Imports the adapter of a wire format, unguarded: `guardStream` makes it safe. Rejects for a name that is none of
 * `wireFormats`.
 */
export async function loadAdapter(api: Api): Promise<ProviderStreams> {
	if (isAdapted(api)) {
		// Asked for with each request, and to import something again is not free. One that failed may succeed next time.
		loaded[api] ??= (await adapters[api]()) as ProviderStreams;
		return loaded[api];
	}
	throw new Error(`There is no wire format "${api}"; there are: ${wireFormats.join(", ")}.`);
}

/** Asks a model through the adapter for its wire format, imported at the first call; unguarded and rejects as that. */
export const streamByApi: StreamFn = async (model, context, options) => {
	const { streamSimple } = await loadAdapter(model.api);
	return (streamSimple as StreamFunction<string, SimpleStreamOptions>)(model as Model<string>, context, options);
};

function isAdapted(api: string): api is keyof typeof adapters {
	return Object.hasOwn(adapters, api);
}
