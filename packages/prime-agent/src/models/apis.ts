import type { Api, ProviderStreams } from "@earendil-works/pi-ai";

/** The code of each wire format, loaded when its first request is made: each brings a provider's SDK with it. */
const APIS: Readonly<Record<string, () => Promise<ProviderStreams>>> = {
	"anthropic-messages": () => import("@earendil-works/pi-ai/api/anthropic-messages") as Promise<ProviderStreams>,
	"azure-openai-responses": () =>
		import("@earendil-works/pi-ai/api/azure-openai-responses") as Promise<ProviderStreams>,
	"bedrock-converse-stream": () =>
		import("@earendil-works/pi-ai/api/bedrock-converse-stream") as Promise<ProviderStreams>,
	"google-generative-ai": () => import("@earendil-works/pi-ai/api/google-generative-ai") as Promise<ProviderStreams>,
	"google-vertex": () => import("@earendil-works/pi-ai/api/google-vertex") as Promise<ProviderStreams>,
	"mistral-conversations": () => import("@earendil-works/pi-ai/api/mistral-conversations") as Promise<ProviderStreams>,
	"openai-codex-responses": () =>
		import("@earendil-works/pi-ai/api/openai-codex-responses") as Promise<ProviderStreams>,
	"openai-completions": () => import("@earendil-works/pi-ai/api/openai-completions") as Promise<ProviderStreams>,
	"openai-responses": () => import("@earendil-works/pi-ai/api/openai-responses") as Promise<ProviderStreams>,
	"pi-messages": () => import("@earendil-works/pi-ai/api/pi-messages") as Promise<ProviderStreams>,
};

/**
 * The code of a wire format.
 * @throws {Error} when there is none of that name; the message names the ones there are.
 */
export async function loadApi(api: Api): Promise<ProviderStreams> {
	const load = APIS[api];
	if (!load) throw new Error(`Unknown api "${api}" in models.json. Known: ${Object.keys(APIS).join(", ")}.`);
	return load();
}
