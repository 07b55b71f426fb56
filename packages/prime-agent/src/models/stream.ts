import type {
	Api,
	AssistantMessage,
	AssistantMessageEventStream,
	Model,
	ProviderHeaders,
	ProviderStreams,
	SimpleStreamOptions,
	TranscriptContext,
} from "@earendil-works/pi-ai";
import { resolveConfigValue } from "../platform/config-value.ts";
import type { Environment } from "../platform/paths.ts";
import type { Key } from "../protocol/credential.ts";
import { addHints } from "./failure-hints.ts";
import { findBuiltin } from "./providers.ts";
import type { ModelRegistry } from "./registry.ts";
import { noKey } from "./selection.ts";

/** What is shorter, such as "none", is no secret and may be part of any address. */
const SHORTEST_KEY = 8;

/** Asks a model for one reply. */
export type ModelStream = (
	model: Model<Api>,
	context: TranscriptContext,
	options?: SimpleStreamOptions,
) => Promise<AssistantMessageEventStream>;

/** What requests are sent with. */
export interface StreamParts {
	readonly registry: ModelRegistry;
	readonly env: Environment;
	readonly userAgent: string;
	/** Loads the code of a wire format. */
	readonly loadAdapter: LoadAdapter;
	/** Watches over one request; sees its key, so that the key can be kept out of texts. `amend` has the last word. */
	readonly guard: (send: ModelStream, amend: (message: AssistantMessage) => AssistantMessage) => GuardedStream;
}

/** Loads the code that requests in a wire format need; rejects for one that there is none for. */
type LoadAdapter = (api: Api) => Promise<ProviderStreams>;

/** A stream function that may answer at once or later. */
type GuardedStream = (
	...request: Parameters<ModelStream>
) => AssistantMessageEventStream | Promise<AssistantMessageEventStream>;

/**
 * Makes the function that sends requests: it finds the key anew for each and loads the code that the model needs. The
 * guard keeps the library from asking again by itself. Rejects with a message for people when there is no key.
 */
export function createStream({ registry, env, userAgent, loadAdapter, guard }: StreamParts): ModelStream {
	return async (model, context, options = {}) => {
		const key = await registry.key(model.provider, options.signal);
		if (!key) throw noKey(registry, model.provider);
		const headers = await requestHeaders(registry, env, model, key, options);
		const written = registry.addressPlace(model);
		let address: string | undefined;
		const send: ModelStream = async (asked, messages, given = {}) => {
			const { fetch } = given;
			const watched = fetch && {
				fetch: (...[input, init]: Parameters<typeof fetch>) => {
					address = typeof input === "string" || input instanceof URL ? String(input) : input.url;
					return fetch(input, init);
				},
			};
			const { streamSimple } = await loadStreams(asked, loadAdapter);
			return streamSimple(asked, messages, { ...given, ...watched });
		};
		const amend = (message: AssistantMessage) => {
			const { provider, api } = model;
			return addHints(message, { provider, api, key: key.status, written, address: hideKey(address, key) });
		};
		return guard(send, amend)(model, context, {
			...options,
			// The library wants a key where a local server wants none; the header that carries it is taken out again.
			...(key.apiKey === undefined && key.status.source !== "keyless" ? {} : { apiKey: key.apiKey ?? "none" }),
			...(Object.keys(headers).length > 0 ? { headers } : {}),
			env: { ...key.env, ...options.env },
			identity: { userAgent: { custom: userAgent }, attribution: null },
			// Every request is sent whole, so that it means the same whatever the server remembers.
			disableContinuation: true,
		});
	};
}

/** Loads the code that the model's requests need, so that the first one need not wait for it. */
export async function loadStreams(model: Model<Api>, loadAdapter: LoadAdapter): Promise<ProviderStreams> {
	// Its SDK would write what is wrong with a reply to stderr, beside the error that people are shown.
	process.env.OPENAI_LOG ??= "off";
	const own = findBuiltin(model.provider)?.streams;
	return own ? own() : loadAdapter(model.api);
}

/** Some gateways want their key in the path. */
function hideKey(address: string | undefined, { apiKey = "" }: Key): string | undefined {
	return apiKey.length < SHORTEST_KEY ? address : address?.replaceAll(apiKey, "[redacted]");
}

async function requestHeaders(
	registry: ModelRegistry,
	env: Environment,
	model: Model<Api>,
	key: Key,
	options: SimpleStreamOptions,
): Promise<ProviderHeaders> {
	const request = registry.request(model.provider);
	const headers: ProviderHeaders = {};
	for (const [name, value] of Object.entries({ ...request.headers, ...model.headers })) {
		headers[name] = await resolveConfigValue(value, env, options.signal);
	}
	if (key.status.source === "keyless") headers.Authorization ??= null;
	if (request.authHeader && key.apiKey !== undefined) headers.Authorization = `Bearer ${key.apiKey}`;
	if (findBuiltin(model.provider)?.primeOrder && env.PRIME_TEAM_ID) headers["X-Prime-Team-ID"] = env.PRIME_TEAM_ID;
	return { ...headers, ...options.headers };
}
