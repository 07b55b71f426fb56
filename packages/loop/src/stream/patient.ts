import type { FetchFunction } from "@earendil-works/pi-ai";

/** From this much silence on, Node's own fetch gives up, before the headers and between two pieces of the body. */
const nodePatienceMs = 300_000;

/** Where Node keeps what sends the requests of its fetch; it is made with the first one. */
const dispatcherSymbol = Symbol.for("undici.globalDispatcher.1");

type Agent = new (options: { headersTimeout: number; bodyTimeout: number }) => object;

let patient: FetchFunction | undefined;

/** Node's fetch where it is patient enough for these limits (0 is none), else one without limits of its own. */
export function chooseFetch(...limitsMs: readonly number[]): FetchFunction {
	if (limitsMs.every((ms) => ms > 0 && ms <= nodePatienceMs)) return globalThis.fetch;
	patient ??= openFetch(0);
	return patient;
}

/** Node's fetch that gives up after this many silent milliseconds; 0: never. Where Node has changed, its plain fetch. */
export function openFetch(silenceMs: number): FetchFunction {
	let dispatcher: object | undefined;
	return async (input, init) => {
		dispatcher ??= await createDispatcher(silenceMs);
		return globalThis.fetch(
			input as Parameters<typeof globalThis.fetch>[0],
			{ ...init, ...(dispatcher ? { dispatcher } : {}) } as RequestInit,
		);
	};
}

async function createDispatcher(silenceMs: number): Promise<object | undefined> {
	await globalThis.fetch("data:,");
	const current = (globalThis as { [dispatcherSymbol]?: object })[dispatcherSymbol];
	const Dispatcher = current?.constructor as Agent | undefined;
	return Dispatcher && new Dispatcher({ headersTimeout: silenceMs, bodyTimeout: silenceMs });
}
