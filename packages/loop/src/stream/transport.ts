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
 * Sends a request over `node:http` and has no limits of its own. Follows redirects on the same server only: keys stand in
 * headers of many names, and another server is to get neither these nor the conversation. Rejects with the error of the
 * socket, for a redirect to another server, and for addresses other than `http:` and `https:`.
 */
export const sendRequest: FetchFunction = async (input, init) => {
	if (typeof input === "string" || input instanceof URL) return follow(readAddress(input), init);
	const { url, method, headers, signal, redirect } = input;
	const body = input.body ? { body: new Uint8Array(await input.arrayBuffer()) } : {};
	return follow(readAddress(url), { method, headers, signal, redirect, ...body, ...init });
};

const send = fetchOverHttp as unknown as (url: URL, init: RequestInit) => Promise<globalThis.Response>;

const mostRedirects = 20;

async function follow(start: URL, init: RequestInit = {}): Promise<globalThis.Response> {
	let url = start;
	let request: RequestInit = { ...init, redirect: "manual" };
	// A text would be put behind the headers and then be written as text, which for a long one takes three copies.
	if (typeof init.body === "string") request.body = Buffer.from(init.body);
	for (let count = 0; count <= mostRedirects; count++) {
		const answer = await send(url, request);
		const place = [301, 302, 303, 307, 308].includes(answer.status) && answer.headers.get("location");
		if (!place || init.redirect === "manual") return answer;
		// It may be without end, or no text in the encoding that it claims; nobody reads it.
		await answer.body?.cancel().catch(() => undefined);
		const next = URL.parse(place, url.href);
		if (next?.origin !== start.origin) {
			const where = next ? `${next.origin}, another server` : "an address that is none";
			throw new TypeError(`it redirected to ${where}; if the models are there, make that the base URL.`);
		}
		url = next;
		if (answer.status < 307 && request.method !== "HEAD") request = withoutBody(request);
	}
	throw new TypeError(`it redirected more than ${mostRedirects} times; check the base URL.`);
}

/** What is asked after a redirect that means another document, as browsers do it. */
function withoutBody({ body: _body, headers: given, ...request }: RequestInit): RequestInit {
	const headers = new Headers(given);
	for (const name of ["content-type", "content-length", "content-encoding"]) headers.delete(name);
	return { ...request, headers, method: "GET" };
}

function readAddress(text: string | URL): URL {
	const url = URL.parse(String(text));
	if (!url) throw new TypeError(`Invalid URL "${text}"; it has to begin with https:// or http://.`);
	if (url.protocol === "http:" || url.protocol === "https:") return url;
	throw new TypeError(`Invalid URL "${text}"; models are asked over http: and https:, not ${url.protocol}`);
}
