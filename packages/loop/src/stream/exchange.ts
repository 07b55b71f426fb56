import type { FetchFunction } from "@earendil-works/pi-ai";
import type { Clock } from "../clock.ts";
import type { Redactor } from "./redact.ts";
import { type BodyScanner, scanBody } from "./scan.ts";
import { Headers, Response } from "./transport.ts";
import type { StreamWatch } from "./watch.ts";

/** What goes over the wire, free of credentials, for a person who looks for a fault. */
export type DebugRecord =
	| { type: "request"; method: string; url: string; headers: Record<string, string>; body: string }
	| { type: "response"; status: number; headers: Record<string, string> }
	/** One line of an event stream. */
	| { type: "line"; text: string }
	/** The beginning of a body that is no event stream. */
	| { type: "body"; text: string }
	| { type: "failure"; text: string };

/** Takes debug records; must not throw. */
export type DebugSink = (record: DebugRecord) => void;

/** What was seen of one HTTP request and its answer. */
export interface Exchange {
	host: string;
	status?: number;
	headers?: globalThis.Headers;
	body?: BodyScanner;
	/** Why no answer came, or why its body broke off. */
	networkError?: unknown;
}

/** What a watched fetch reports to. */
export interface ExchangeObserver {
	api: string;
	watch: StreamWatch;
	clock: Clock;
	redactor: Redactor;
	debug?: DebugSink | undefined;
	/** A request starts; the exchange fills while it runs. */
	onExchange(exchange: Exchange): void;
}

/** A fetch that passes every byte on, in its own chunks, and tells `observer` what it sees. */
export function observeFetch(fetch: FetchFunction, observer: ExchangeObserver): FetchFunction {
	const { redactor, debug } = observer;
	return async (input, init) => {
		const request = describeRequest(input, init);
		const exchange: Exchange = { host: readHost(request.url) };
		observer.onExchange(exchange);
		redactor.study(request.url, request.headers);
		if (debug) {
			const shown = { url: redactor.url(request.url), headers: redactor.headers(request.headers) };
			debug({ type: "request", method: request.method, ...shown, body: redactor.text(request.body) });
		}
		let response: globalThis.Response;
		try {
			response = await fetch(input, init);
		} catch (error) {
			exchange.networkError = error;
			throw error;
		}
		exchange.status = response.status;
		exchange.headers = response.headers;
		debug?.({ type: "response", status: response.status, headers: redactor.headers(response.headers) });
		return response.body ? observeBody(response, response.body, exchange, observer) : response;
	};
}

/** How long a server may leave a reply open that has come to its end. */
const lingerMs = 1_000;

function observeBody(
	response: globalThis.Response,
	source: ReadableStream<Uint8Array>,
	exchange: Exchange,
	{ api, watch, clock, redactor, debug }: ExchangeObserver,
): globalThis.Response {
	const contentType = response.headers.get("content-type") ?? "";
	const isEventStream = /event-stream/i.test(contentType);
	const showLine = debug && ((line: string) => debug({ type: "line", text: redactor.text(line) }));
	const scanner = scanBody(contentType, api, showLine);
	exchange.body = scanner;
	const finish = () => {
		scanner.end();
		if (!isEventStream) debug?.({ type: "body", text: redactor.text(scanner.head) });
	};
	const lineEnds = isEventStream ? new LineEnds() : undefined;
	async function* observe(): AsyncGenerator<Uint8Array> {
		const reader = source.getReader();
		const hangUp = () =>
			reader.cancel().catch((error: unknown) => {
				exchange.networkError ??= error;
			});
		let stopTimer: (() => void) | undefined;
		let isRead = false;
		try {
			for (;;) {
				const { done, value } = await reader.read();
				isRead = done;
				if (done) break;
				if (scanner.push(value)) watch.noteProgress();
				else watch.noteByte();
				// A proxy may hold the connection open; the reply is whole, and to wait for more would be to lose it.
				if (scanner.isOver) stopTimer ??= clock.after(lingerMs, hangUp);
				const bytes = lineEnds ? lineEnds.join(value) : value;
				if (bytes.length > 0) yield bytes;
			}
		} catch (error) {
			isRead = true;
			exchange.networkError = error;
			finish();
			throw error;
		} finally {
			stopTimer?.();
			if (!isRead) await hangUp();
		}
		finish();
		if (lineEnds?.isHolding) yield Uint8Array.of(CR);
	}
	const { status, statusText, headers } = response;
	return new Response(observe(), { status, statusText, headers });
}

const CR = 0x0d;

/** Keeps a CR LF together that two chunks share: some adapters take its halves for two line ends. */
class LineEnds {
	isHolding = false;

	/** The chunk with what was held before it, without a CR at its end. */
	join(chunk: Uint8Array): Uint8Array {
		const joined = this.isHolding ? Buffer.concat([Uint8Array.of(CR), chunk]) : chunk;
		this.isHolding = joined.at(-1) === CR;
		return this.isHolding ? joined.subarray(0, -1) : joined;
	}
}

function describeRequest(input: Parameters<FetchFunction>[0], init: Parameters<FetchFunction>[1]) {
	const request = typeof input === "string" || input instanceof URL ? undefined : input;
	return {
		url: request?.url ?? String(input),
		method: init?.method ?? request?.method ?? "GET",
		headers: new Headers(init?.headers ?? request?.headers),
		body: typeof init?.body === "string" ? init.body : init?.body ? "[not text]" : "",
	};
}

function readHost(url: string): string {
	return URL.canParse(url) ? new URL(url).host : "the server";
}
