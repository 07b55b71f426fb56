import type { Api, AssistantMessage, Model, SimpleStreamOptions } from "@earendil-works/pi-ai";
import { AssistantMessageEventStream } from "@earendil-works/pi-ai/utils/event-stream";
import { type Clock, systemClock } from "../clock.ts";
import { drainStream, type PartialEvent, type StreamEnd } from "../drain.ts";
import { abortedText, describeError, emptyMessage } from "../faults.ts";
import { abandoned, type Grace, settleOrAbandon } from "../grace.ts";
import type { StreamFn } from "../types.ts";
import { type DebugSink, type Exchange, observeFetch } from "./exchange.ts";
import { judgeReply } from "./judge.ts";
import { createRedactor, findSecrets } from "./redact.ts";
import { completeSignatures } from "./signatures.ts";
import { sendRequest } from "./transport.ts";
import { type LimitName, type StreamLimits, watchStream } from "./watch.ts";

/** How to guard a stream; limits in milliseconds, 0 switches one off. */
export interface GuardOptions extends Partial<StreamLimits> {
	/** What really asks the model. */
	streamFn: StreamFn;
	/** Default: the clock of the machine. */
	clock?: Clock;
	/** Gets the requests and answers as they are on the wire, without credentials. */
	debug?: DebugSink;
	/** Has the last word on what a reply says. Must not throw. */
	amend?: (message: AssistantMessage) => AssistantMessage;
	/** Take a reply without text and calls for a success. Default: it is an error, because it ends a run silently. */
	allowEmptyReply?: boolean;
}

/** Limits without better knowledge: five silent minutes, ten without progress, no limit on the whole. */
export const defaultLimits: StreamLimits = { firstByteMs: 300_000, idleMs: 300_000, progressMs: 600_000, totalMs: 0 };

/** How long a stopped adapter may take to say its last word. */
const graceMs = 1_000;

/**
 * A stream function that cannot hang and takes nothing for success that is none. It watches the HTTP exchange through
 * the `fetch` option (adapters without it by their events), ends the request when a limit runs out, switches off the
 * adapter's own retries, marks calls of other models for servers that want it, and ends each failed reply with stop
 * reason `error`, a text free of credentials and a `provider_stream_failure` diagnostic; what had arrived stays in the
 * message. Aborting works at any byte.
 */
export function guardStream(options: GuardOptions): StreamFn {
	return (model, context, request = {}) => {
		const stream = new AssistantMessageEventStream();
		const call = startCall(options, model, request);
		const inner = (async () => options.streamFn(model, context, call.request))();
		call
			.run(inner, (event) => stream.push(event))
			.then(
				(message) => endStream(stream, message),
				(error: unknown) => {
					endStream(stream, { ...emptyMessage(model), stopReason: "error", errorMessage: describeError(error) });
				},
			);
		return stream;
	};
}

function endStream(stream: AssistantMessageEventStream, message: AssistantMessage): void {
	const { stopReason } = message;
	if (stopReason === "error" || stopReason === "aborted") {
		stream.push({ type: "error", reason: stopReason, error: message });
	} else if (stopReason === "pending") {
		stream.push({ type: "error", reason: "error", error: { ...message, stopReason: "error" } });
	} else {
		stream.push({ type: "done", reason: stopReason, message });
	}
}

function startCall(options: GuardOptions, model: Model<Api>, request: SimpleStreamOptions) {
	const clock = options.clock ?? systemClock;
	const limits: StreamLimits = {
		firstByteMs: options.firstByteMs ?? defaultLimits.firstByteMs,
		idleMs: options.idleMs ?? defaultLimits.idleMs,
		progressMs: options.progressMs ?? defaultLimits.progressMs,
		totalMs: options.totalMs ?? defaultLimits.totalMs,
	};
	const stop = new AbortController();
	let expired: LimitName | undefined;
	const watch = watchStream(limits, clock, (limit) => {
		expired = limit;
		stop.abort(new Error(`The ${limit} limit ran out.`));
	});
	const { signal } = stop;
	const onAbort = () => stop.abort(request.signal?.reason);
	if (request.signal?.aborted) onAbort();
	else request.signal?.addEventListener("abort", onAbort, { once: true });
	const redactor = createRedactor(request.apiKey, ...findSecrets(Object.entries(request.headers ?? {})));
	const { debug } = options;
	let exchange: Exchange | undefined;
	const fetch = observeFetch(request.fetch ?? sendRequest, {
		api: model.api,
		watch,
		clock,
		redactor,
		debug,
		onExchange: (started) => {
			exchange = started;
		},
	});
	const grace: Grace = { clock, ms: graceMs };
	let partial: AssistantMessage | undefined;

	async function drain(
		inner: Promise<AssistantMessageEventStream>,
		forward: (event: PartialEvent) => void,
	): Promise<StreamEnd> {
		try {
			const opened = await settleOrAbandon(inner, signal, grace);
			if (opened === abandoned) return { kind: "abandoned" };
			return await drainStream(opened, signal, grace, (event) => {
				partial = event.partial;
				// Adapters that use a socket of their own show life only here; the start event is none yet.
				if (!exchange && event.type !== "start") watch.noteProgress();
				forward(event);
			});
		} catch (error) {
			return { kind: "failed", error };
		}
	}

	return {
		request: {
			...request,
			signal,
			fetch,
			maxRetries: 0,
			onPayload: completeSignatures(request.onPayload),
		} satisfies SimpleStreamOptions,
		async run(inner: Promise<AssistantMessageEventStream>, forward: (event: PartialEvent) => void) {
			const end = await drain(inner, forward);
			watch.stop();
			request.signal?.removeEventListener("abort", onAbort);
			const received = nameEnd(end, partial ?? emptyMessage(model));
			const message = judgeReply(received, {
				exchange,
				expired,
				limits,
				isAborted: request.signal?.aborted === true,
				allowEmptyReply: options.allowEmptyReply ?? false,
				redactor,
				nowMs: Date.now(),
			});
			if (message.errorMessage) debug?.({ type: "failure", text: message.errorMessage });
			return options.amend?.(message) ?? message;
		},
	};
}

/** The message that a stream ended with, or one made of what had arrived. */
function nameEnd(end: StreamEnd, partial: AssistantMessage): AssistantMessage {
	switch (end.kind) {
		case "final":
			return end.message.content.length > 0 ? end.message : { ...end.message, content: partial.content };
		case "abandoned":
			return { ...partial, stopReason: "aborted", errorMessage: abortedText };
		case "failed":
			return { ...partial, stopReason: "error", errorMessage: describeError(end.error) };
		case "silent":
			return { ...partial, stopReason: "error", errorMessage: "The stream ended without a final message." };
	}
}
