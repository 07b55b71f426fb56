import type { AssistantMessage, JsonObject } from "@earendil-works/pi-ai";
import { abortedText, describeError } from "../faults.ts";
import type { Exchange } from "./exchange.ts";
import { classifyEvidence, type FailureKind, failureDiagnostic, type ProviderFailure } from "./failure.ts";
import type { Redactor } from "./redact.ts";
import { readRetryAfter } from "./retry-after.ts";
import { readError } from "./scan.ts";
import { Headers } from "./transport.ts";
import type { LimitName, StreamLimits } from "./watch.ts";

/** Everything that was seen of one model call. */
export interface ReplyEvidence {
	/** The last HTTP exchange; absent where the adapter does not use the given fetch. */
	exchange?: Exchange | undefined;
	/** The limit that ended the call. */
	expired?: LimitName | undefined;
	limits: StreamLimits;
	/** The caller ended it. */
	isAborted: boolean;
	/** A reply without text and calls is all right. */
	allowEmptyReply: boolean;
	redactor: Redactor;
	/** Time of day in milliseconds, for dates in headers. */
	nowMs: number;
}

interface Finding {
	failure: ProviderFailure;
	text: string;
}

/** Longest error text that goes into a message. */
const longestText = 2_000;

/**
 * The final message of a call in the light of what was seen: as it is when all is well, with stop reason `aborted` when
 * the caller ended it, else with stop reason `error`, a text for people and the failure as a diagnostic. What had
 * arrived stays in it.
 */
export function judgeReply(message: AssistantMessage, evidence: ReplyEvidence): AssistantMessage {
	if (evidence.isAborted && isBroken(message)) return { ...message, stopReason: "aborted", errorMessage: abortedText };
	const finding = findFailure(message, evidence);
	if (!finding) return message;
	const text = evidence.redactor
		.text(finding.text)
		.replace(/[\s\p{Cc}]+/gu, " ")
		.trim()
		.slice(0, longestText);
	const details: JsonObject = { ...finding.failure };
	const diagnostic = { type: failureDiagnostic, timestamp: evidence.nowMs, error: { message: text }, details };
	return {
		...message,
		stopReason: "error",
		errorMessage: text,
		diagnostics: [...(message.diagnostics ?? []), diagnostic],
	};
}

function findFailure(message: AssistantMessage, evidence: ReplyEvidence): Finding | undefined {
	const { exchange, expired, limits } = evidence;
	if (expired)
		return { failure: { kind: "timeout", permanent: false }, text: describeLimit(expired, limits, exchange) };
	const refused = exchange && isBroken(message) && findRefusedRequest(exchange, evidence.nowMs);
	if (refused) return refused;
	const inStream = exchange?.body?.error;
	if (inStream) {
		const shown = `The server broke off the reply with an error: ${readErrorMessage(inStream.text)}`;
		return explain(inStream.text, inStream.status, shown, evidence);
	}
	const blocked = exchange?.body?.blockReason;
	if (blocked !== undefined && !message.content.some(saysSomething)) {
		const text = `The provider's filter does not answer this prompt (${blocked}); rephrase the request.`;
		return { failure: { kind: "safety", permanent: true }, text };
	}
	return isBroken(message) ? findBreak(message, evidence) : findHiddenBreak(message, evidence);
}

function isBroken({ stopReason }: AssistantMessage): boolean {
	return stopReason === "error" || stopReason === "aborted" || stopReason === "pending";
}

function findRefusedRequest(exchange: Exchange, nowMs: number): Finding | undefined {
	const { status, headers = new Headers(), body } = exchange;
	if (status === undefined || status < 400) return undefined;
	const head = body?.head ?? "";
	const failure = classifyEvidence({ status, text: head });
	const wait = failure.permanent ? undefined : readRetryAfter(headers, head, nowMs);
	if (wait !== undefined) failure.retryAfterMs = wait;
	return { failure, text: `${status} ${describeBody(head)}` };
}

/** The adapter itself reports an error. */
function findBreak(message: AssistantMessage, evidence: ReplyEvidence): Finding {
	const { exchange } = evidence;
	const { errorMessage = "", rawStopReason = "" } = message;
	const said = errorMessage.includes(rawStopReason) ? errorMessage : `${errorMessage} ${rawStopReason}`.trim();
	if (exchange?.networkError !== undefined) {
		const cause = describeCauses(exchange.networkError);
		const failure = classifyEvidence({ text: cause });
		if (failure.kind === "unknown" || failure.kind === "truncated") failure.kind = "network";
		const text = exchange.body
			? `The connection to ${exchange.host} broke off before the reply was complete: ${cause}`
			: `Could not reach ${exchange.host}: ${cause}`;
		return { failure, text };
	}
	const strange = exchange && findStrangeBody(exchange, evidence);
	if (strange) return strange;
	if (exchange?.body && exchange.body.error === undefined && !exchange.body.isComplete) return cutOff(exchange);
	const failure = classifyEvidence({ text: said });
	if (exchange && failure.kind === "truncated") return cutOff(exchange);
	return { failure, text: describeStop(failure.kind, errorMessage || rawStopReason) };
}

function describeStop(kind: FailureKind, said: string): string {
	if (kind === "safety") return `The provider's filter stopped the reply (${said}); rephrase the request.`;
	if (kind === "refusal") return `The model refused to answer (${said}); rephrase the request.`;
	return said || "The model stopped with an error and no reason.";
}

/** The adapter reports success. */
function findHiddenBreak(message: AssistantMessage, { exchange, allowEmptyReply }: ReplyEvidence): Finding | undefined {
	if (exchange?.body && !exchange.body.isComplete) return cutOff(exchange);
	if (exchange?.body?.isRefusal) {
		const said = message.content
			.map((block) => (block.type === "text" ? block.text : ""))
			.join("")
			.trim();
		return { failure: { kind: "refusal", permanent: true }, text: describeStop("refusal", said || "no reason given") };
	}
	const isEnd = message.stopReason === "stop" || message.stopReason === "toolUse";
	if (allowEmptyReply || !isEnd || message.content.some(saysSomething)) return undefined;
	return {
		failure: { kind: "unknown", permanent: false },
		text: "The model's reply was empty: no text and no tool call.",
	};
}

function cutOff(exchange: Exchange): Finding {
	const failure: ProviderFailure = { kind: "truncated", permanent: false };
	return { failure, text: `The answer of ${exchange.host} ended before the reply was complete.` };
}

/** Status 200, but a page or a JSON document where a stream should be. */
function findStrangeBody({ host, status, headers, body }: Exchange, evidence: ReplyEvidence): Finding | undefined {
	const contentType = headers?.get("content-type") ?? "";
	if (!body || status === undefined) return undefined;
	if (/html/i.test(contentType)) {
		const failure: ProviderFailure = { kind: "invalid_request", permanent: true };
		return { failure, text: `${host} answered with a web page instead of a reply; check the base URL of the model.` };
	}
	if (!/json/i.test(contentType)) return undefined;
	const error = readError(body.head) ?? { text: body.head };
	return explain(
		error.text,
		error.status,
		`${host} answered with JSON instead of a stream: ${describeBody(body.head)}`,
		evidence,
	);
}

function explain(text: string, status: number | undefined, shown: string, { exchange, nowMs }: ReplyEvidence): Finding {
	const failure = classifyEvidence(status === undefined ? { text } : { status, text });
	const wait = failure.permanent ? undefined : readRetryAfter(exchange?.headers ?? new Headers(), text, nowMs);
	if (wait !== undefined) failure.retryAfterMs = wait;
	return { failure, text: shown };
}

function describeLimit(limit: LimitName, limits: StreamLimits, exchange: Exchange | undefined): string {
	const host = exchange?.host ?? "The model";
	const seconds = (ms: number) => `${Math.round(ms / 100) / 10} s`;
	switch (limit) {
		case "firstByte":
			return `${host} sent nothing for ${seconds(limits.firstByteMs)} (timeout); the request was stopped.`;
		case "idle":
			return `${host} fell silent for ${seconds(limits.idleMs)} in the middle of the reply (timeout); the request was stopped.`;
		case "progress":
			return `${host} kept the connection open but sent nothing of the reply for ${seconds(limits.progressMs)} (timeout); the request was stopped.`;
		case "total":
			return `The reply was not complete after ${seconds(limits.totalMs)} (timeout); the request was stopped.`;
	}
}

/** The sentence for people in an error body. */
function describeBody(head: string): string {
	if (head.trim() === "") return "status code (no body)";
	if (/^\s*<(?:!doctype|html)/i.test(head)) return "(the server answered with a web page)";
	return readErrorMessage(readError(head)?.text ?? head);
}

function readErrorMessage(text: string): string {
	let value: unknown;
	try {
		value = JSON.parse(text);
	} catch {
		// Plain text says it in its own words.
		return text;
	}
	for (;;) {
		if (typeof value === "string") return value;
		if (typeof value !== "object" || value === null) return text;
		const fields = value as Record<string, unknown>;
		const inner = fields.message ?? fields.error ?? fields.detail ?? fields.msg;
		if (inner === undefined || inner === null) return text;
		value = inner;
	}
}

function saysSomething(block: AssistantMessage["content"][number]): boolean {
	return block.type === "toolCall" || (block.type === "text" && block.text.trim() !== "");
}

/** An error and what caused it; the deepest cause of a failed fetch is the only one that says something. */
function describeCauses(error: unknown): string {
	const parts: string[] = [];
	for (let at: unknown = error, depth = 0; at !== undefined && at !== null && depth < 5; depth++) {
		// A host with several addresses fails with one error for each of them, and no text of its own.
		if (at instanceof AggregateError) at = at.errors[0] ?? at;
		const code = (at as { code?: unknown }).code;
		const text = describeError(at);
		parts.push(typeof code === "string" && !text.includes(code) ? `${text} (${code})` : text);
		at = at instanceof Error ? at.cause : undefined;
	}
	return [...new Set(parts)].join(": ");
}
