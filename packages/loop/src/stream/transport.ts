import type { FetchFunction } from "@earendil-works/pi-ai";
import { fetch as fetchOverHttp, Headers as LightHeaders, Response as LightResponse } from "@whatwg-node/node-fetch";

// Node's own `fetch`, `Headers` and `Response` bring undici along, which takes a fifth of the time from the start to the
// first request, and it ends each silence after 300 s. These are the same over `node:http`, which does neither.

/** Request and response headers as `fetch` has them. */
export const Headers = LightHeaders as unknown as typeof globalThis.Headers;

/** An answer as `fetch` gives it; its body may be any async iterable of bytes. */
export const Response = LightResponse as unknown as new (
	body: AsyncIterable<Uint8Array> | null,
	init: ResponseInit,
) => globalThis.Response;

/**
 * Sends a request over `node:http` and has no limits of its own; follows redirects, and takes credentials to no other
 * host. Rejects with the error of the socket, and for addresses other than `http:` and `https:`.
 */
export const sendRequest: FetchFunction = async (input, init) => {
	if (typeof input === "string" || input instanceof URL) return send(readAddress(input), init);
	const { url, method, headers, signal, redirect } = input;
	const body = input.body ? { body: new Uint8Array(await input.arrayBuffer()) } : {};
	return send(readAddress(url), { method, headers, signal, redirect, ...body, ...init });
};

const send = fetchOverHttp as unknown as (url: URL, init: RequestInit | undefined) => Promise<globalThis.Response>;

function readAddress(text: string | URL): URL {
	const url = URL.parse(String(text));
	if (!url) throw new TypeError(`Invalid URL "${text}"; it has to begin with https:// or http://.`);
	if (url.protocol === "http:" || url.protocol === "https:") return url;
	throw new TypeError(`Invalid URL "${text}"; models are asked over http: and https:, not ${url.protocol}`);
}
