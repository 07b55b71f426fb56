import type { Api, AssistantMessage, Model } from "@earendil-works/pi-ai";

/** The error text of every aborted reply, whatever the provider's library calls it. */
export const abortedText = "Request was aborted";

/** A message of `model` that says nothing yet. */
export function emptyMessage(model: Pick<Model<Api>, "id" | "api" | "provider">): AssistantMessage {
	return {
		role: "assistant",
		content: [],
		api: model.api,
		provider: model.provider,
		model: model.id,
		usage: {
			input: 0,
			output: 0,
			cacheRead: 0,
			cacheWrite: 0,
			totalTokens: 0,
			cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
		},
		stopReason: "pending",
		timestamp: Date.now(),
	};
}

/** The words of anything that was thrown. */
export function describeError(error: unknown): string {
	return error instanceof Error ? error.message || error.name : String(error);
}
