import type { FetchFunction } from "@earendil-works/pi-ai";

/** From this much silence on, Node's own fetch gives up, before the headers and between two pieces of the body. */
const nodePatienceMs = 300_000;

/** Where Node keeps what sends the requests of its fetch, proxies included; its first use of HTTP makes it. */
const dispatcherSymbol = Symbol.for("undici.globalDispatcher.1");

interface Dispatcher {
	dispatch(options: object, handler: unknown): boolean;
}

/** Node's fetch where it is patient enough for these limits (0 is none), else one without limits of its own. */
export function chooseFetch(...limitsMs: readonly number[]): FetchFunction {
	return limitsMs.every((ms) => ms > 0 && ms <= nodePatienceMs) ? globalThis.fetch : patientFetch;
}

const patientFetch = openFetch(0);

/** Node's fetch that gives up after this many silent milliseconds; 0: never. Where Node has changed, its plain fetch. */
export function openFetch(silenceMs: number): FetchFunction {
	const dispatch: Dispatcher["dispatch"] = (options, handler) => {
		const limits = { headersTimeout: silenceMs, bodyTimeout: silenceMs };
		return findDispatcher()!.dispatch({ ...options, ...limits }, handler);
	};
	return (input, init) => {
		const own = findDispatcher() ? { dispatcher: { dispatch } } : {};
		return globalThis.fetch(input as Parameters<typeof globalThis.fetch>[0], { ...init, ...own } as RequestInit);
	};
}

function findDispatcher(): Dispatcher | undefined {
	new Headers();
	return (globalThis as { [dispatcherSymbol]?: Dispatcher })[dispatcherSymbol];
}
