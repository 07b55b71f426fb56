import type { Api, AssistantMessage, AssistantMessageEvent, FetchFunction, Model } from "@earendil-works/pi-ai";
import { normalizeContext } from "@earendil-works/pi-ai/utils/transcript";
import { streamByApi } from "../stream/apis.ts";
import { type GuardOptions, guardStream } from "../stream/guard.ts";
import { testModel } from "./script.ts";

/** The key of every test request; it must turn up nowhere. */
export const canaryKey = "canary-key-1234567890";

/** One guarded call of a real adapter, as it went. */
export interface GuardedCall {
	events: AssistantMessageEvent[];
	message: AssistantMessage;
}

/** How a guarded call differs from the plain one. */
export interface CallOptions extends Partial<GuardOptions> {
	api?: string;
	signal?: AbortSignal;
	headers?: Record<string, string>;
	prompt?: string;
	fetch?: FetchFunction;
	onEvent?: (event: AssistantMessageEvent) => void;
}

/** The test model behind this address. */
export function modelAt(baseUrl: string, api = "openai-completions"): Model<Api> {
	return { ...testModel, api, baseUrl };
}

/** Asks the server at `baseUrl` once through pi-ai's adapter and the guard. */
export async function callGuarded(baseUrl: string, options: CallOptions = {}): Promise<GuardedCall> {
	const { api, signal, headers, prompt = "go", fetch, onEvent, ...guard } = options;
	const streamFn = guardStream({ streamFn: streamByApi, ...guard });
	const parameters = { type: "object", properties: { text: { type: "string" } }, required: ["text"] };
	const context = normalizeContext({
		systemPrompt: "You are a test.",
		messages: [{ role: "user", content: prompt, timestamp: 0 }],
		tools: [{ name: "echo", description: "Says it again.", parameters }],
	});
	const request = {
		apiKey: canaryKey,
		...(signal ? { signal } : {}),
		...(headers ? { headers } : {}),
		...(fetch ? { fetch } : {}),
	};
	const stream = await streamFn(modelAt(baseUrl, api), context, request);
	const events: AssistantMessageEvent[] = [];
	for await (const event of stream) {
		events.push(event);
		onEvent?.(event);
	}
	return { events, message: await stream.result() };
}
