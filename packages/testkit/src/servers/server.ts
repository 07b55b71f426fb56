/** The transport of the mock servers: HTTP on the loopback, recording, the script. It knows no wire format. */

import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { waitFor } from "../process/wait.ts";
import type { RecordedRequest } from "./request.ts";
import { type Candidate, findProblem, type Problem, type Rule, type ServerOptions } from "./rule.ts";
import { arrangeFrames, type Frame, sendEvents, sendRaw } from "./send.ts";
import type { RawStep, ReplyOptions, ReplyStep, Step } from "./step.ts";

/** One refused request. */
export interface Rejection {
	readonly rule: string;
	readonly status: number;
	readonly message: string;
	readonly request: RecordedRequest;
}

/** A running mock server. */
export interface ModelServer extends AsyncDisposable {
	/** `http://127.0.0.1:<port>` */
	readonly url: string;
	/** The address that clients of this format are given. */
	readonly baseUrl: string;
	/** Every request in the order it arrived. */
	readonly requests: readonly RecordedRequest[];
	/** The requests that asked the model for something, refused ones too. */
	readonly modelRequests: readonly RecordedRequest[];
	/** What the rules refused. */
	readonly rejections: readonly Rejection[];
	/** Steps that no request has used yet. */
	readonly remaining: number;
	/** Adds answers, used in order, one per accepted model request; then requests get 500 "script exhausted". */
	script(...steps: readonly Step[]): void;
	/** Resolves when n requests have arrived; rejects after `timeoutMs` (30,000). */
	waitForRequests(n: number, timeoutMs?: number): Promise<void>;
	/** Ends all sockets at once and frees the port. */
	close(): Promise<void>;
}

/** What the transport needs to know of a wire format. */
export interface WireFormat {
	readonly rules: readonly Rule[];
	/** Path of `baseUrl`. */
	readonly basePath: string;
	isModelRequest(method: string, path: string): boolean;
	isModelList(method: string, path: string): boolean;
	/** The answer to a request for the list of models. */
	listModels(models: readonly string[]): object;
	wantsStream(request: RecordedRequest): boolean;
	/** The events of a reply. */
	encode(reply: ReplyOptions, request: RecordedRequest): readonly Frame[];
	/** The event of an error in a stream. */
	encodeError(error: object): Frame;
	/** The body of a refusal. */
	errorBody(status: number, problem: Problem): object;
}

/** Starts a mock server of a wire format on a free loopback port. */
export async function startServer(format: WireFormat, options: ServerOptions): Promise<ModelServer> {
	const requests: RecordedRequest[] = [];
	const modelRequests: RecordedRequest[] = [];
	const rejections: Rejection[] = [];
	const steps: Step[] = [];
	const closing = new AbortController();

	function reject(response: ServerResponse, request: RecordedRequest, rule: string, problem: Problem): void {
		const status = problem.status ?? 400;
		request.rejected = rule;
		rejections.push({ rule, status, message: problem.message, request });
		sendJson(response, status, format.errorBody(status, problem));
	}

	async function answer(incoming: IncomingMessage, response: ServerResponse, at: number): Promise<void> {
		const gone = new AbortController();
		response.once("close", () => gone.abort());
		const signal = AbortSignal.any([gone.signal, closing.signal]);
		const request = await record(incoming, at);
		requests.push(request);
		const path = request.path.replace(/\?.*$/, "");
		if (format.isModelList(request.method, path)) {
			return sendJson(response, 200, format.listModels(options.models ?? ["mock"]));
		}
		if (!format.isModelRequest(request.method, path)) {
			const message = `Unknown request URL: ${request.method} ${path}.`;
			return reject(response, request, "unknown-url", { status: 404, message });
		}
		modelRequests.push(request);
		if (request.body === undefined) {
			const message = "We could not parse the JSON body of your request.";
			return reject(response, request, "not-json", { message });
		}
		const candidate: Candidate = { path, headers: request.headers, body: request.body, options };
		const found = findProblem(format.rules, candidate);
		if (found) return reject(response, request, found.rule, found.problem);
		if (!format.wantsStream(request)) {
			const message = "The mock answers streamed requests only.";
			return reject(response, request, "not-streamed", { status: 501, message });
		}
		const next = steps.shift();
		if (!next) return reject(response, request, "script-exhausted", { status: 500, message: "script exhausted" });
		const step = await resolveStep(next, request);
		if (step.kind === "raw") return sendRaw(response, step.raw, signal);
		const frames = format.encode(step.reply, request);
		const error = step.reply.errorInStream && format.encodeError(step.reply.errorInStream);
		return sendEvents(response, arrangeFrames(frames, step.reply, error), step.reply, signal);
	}

	const http = createServer((incoming, response) => {
		const at = performance.now();
		answer(incoming, response, at).catch((error: unknown) => {
			if (closing.signal.aborted || response.destroyed || isReaderGone(error)) return;
			// A fault of the script: tests that look at the rejections see it, others see a 500 or a broken stream.
			const message = `mock server: ${String(error)}`;
			const request = requests.at(-1);
			if (request) rejections.push({ rule: "script-failed", status: 500, message, request });
			if (response.headersSent) response.destroy();
			else sendJson(response, 500, { error: { message } });
		});
	});
	http.keepAliveTimeout = 0;
	http.listen(0, "127.0.0.1");
	await once(http, "listening");
	const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;

	async function close(): Promise<void> {
		if (closing.signal.aborted) return;
		closing.abort();
		http.closeAllConnections();
		await new Promise((resolve) => http.close(resolve));
	}

	return {
		url,
		baseUrl: url + format.basePath,
		requests,
		modelRequests,
		rejections,
		get remaining() {
			return steps.length;
		},
		script: (...added) => {
			steps.push(...added);
		},
		waitForRequests: (n, timeoutMs) =>
			waitFor(() => requests.length >= n, `${n} requests, ${url} has fewer`, timeoutMs),
		close,
		[Symbol.asyncDispose]: close,
	};
}

async function resolveStep(step: Step, request: RecordedRequest): Promise<ReplyStep | RawStep> {
	let resolved = step;
	while (typeof resolved === "function") resolved = await resolved(request);
	return resolved;
}

async function record(incoming: IncomingMessage, at: number): Promise<RecordedRequest> {
	const chunks: Buffer[] = [];
	for await (const chunk of incoming) chunks.push(chunk);
	const bytes = Buffer.concat(chunks);
	return {
		method: incoming.method ?? "",
		path: incoming.url ?? "",
		headers: incoming.headers,
		raw: bytes.toString("utf8"),
		body: parseJson(bytes),
		at,
	};
}

function parseJson(bytes: Buffer): unknown {
	try {
		return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
	} catch {
		// Bodies that are not JSON have no parsed form; the request is refused for it.
		return undefined;
	}
}

function sendJson(response: ServerResponse, status: number, body: object): void {
	response.writeHead(status, { "content-type": "application/json" });
	response.end(JSON.stringify(body));
}

/** The client closed its end while an answer was being written: its business, no fault of the script. */
function isReaderGone(error: unknown): boolean {
	const { code } = error as NodeJS.ErrnoException;
	return code === "ECONNRESET" || code === "EPIPE";
}
