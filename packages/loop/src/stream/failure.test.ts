import type { AssistantMessage } from "@earendil-works/pi-ai";
import { expect, test } from "vitest";
import { emptyMessage } from "../faults.ts";
import { testModel } from "../testing/script.ts";
import { classifyEvidence, classifyFailure, type FailureKind } from "./failure.ts";

test.each<[FailureKind, number | undefined, string]>([
	["auth", 401, ""],
	["auth", 401, "Incorrect API key provided"],
	["auth", 403, "Forbidden"],
	["auth", 400, "API key not valid. Please pass a valid API key."],
	["auth", undefined, "No API key found for openai."],
	["auth", undefined, "The stored login for meta has expired and could not be renewed: invalid_grant. Run /login"],
	["auth", undefined, "The stored login for meta has expired. Run /login"],
	[
		"network",
		undefined,
		"The stored login for meta has expired and could not be renewed: connect ECONNREFUSED. Run /login",
	],
	["auth", undefined, "401 Unauthorized"],
	["auth", undefined, "OAuth token has expired"],
	["billing", 402, ""],
	["billing", 400, "Your credit balance is too low to access the Anthropic API."],
	["billing", 403, "This account has insufficient funds"],
	[
		"billing",
		429,
		'{"code":"insufficient_quota","message":"You exceeded your current quota, please check your plan and billing details."}',
	],
	["billing", undefined, "billing_hard_limit_reached"],
	["rate_limit", 429, ""],
	["rate_limit", 429, "You exceeded your current quota. RESOURCE_EXHAUSTED. Please retry in 34.07s."],
	["rate_limit", 429, "Rate limit reached on tokens per min (TPM): Limit 30000"],
	["rate_limit", undefined, "ThrottlingException: Too many requests"],
	["overloaded", 529, ""],
	["overloaded", 503, "The model is overloaded. Please try again later."],
	["overloaded", 429, '{"type":"engine_overloaded_error"}'],
	["overloaded", undefined, '{"type":"overloaded_error","message":"Overloaded"}'],
	["server_error", 500, "oops"],
	["server_error", 502, "<html>Bad Gateway</html>"],
	["server_error", 503, ""],
	["server_error", 504, ""],
	["server_error", undefined, '{"type":"api_error","message":"Internal server error"}'],
	["timeout", 408, ""],
	["timeout", undefined, "Request timed out."],
	["timeout", undefined, "fetch failed: Headers Timeout Error (UND_ERR_HEADERS_TIMEOUT)"],
	["network", undefined, "Network connection lost."],
	["network", undefined, "fetch failed: connect ECONNREFUSED 127.0.0.1:1"],
	["network", undefined, "terminated: other side closed (UND_ERR_SOCKET)"],
	["network", undefined, "getaddrinfo ENOTFOUND api.example.com"],
	["truncated", undefined, "Stream ended without finish_reason"],
	["truncated", undefined, "Unexpected end of JSON input"],
	["invalid_request", 400, "messages: roles must alternate"],
	["invalid_request", 404, "The model `nope` does not exist"],
	["invalid_request", 422, ""],
	["context_overflow", 400, "prompt is too long: 213462 tokens > 200000 maximum"],
	["context_overflow", 413, ""],
	["context_overflow", 500, "the request exceeds the available context size"],
	["safety", undefined, "Provider finish_reason: content_filter"],
	["safety", 400, "The response was filtered due to the prompt triggering content management policy: content_filter"],
	["safety", undefined, "PROHIBITED_CONTENT"],
	["refusal", undefined, "refusal"],
	["unknown", 409, ""],
	["unknown", undefined, "something odd"],
])("a failure is %s when the status is %s and the words are '%s'", (kind, status, text) => {
	expect(classifyEvidence(status === undefined ? { text } : { status, text }).kind).toBe(kind);
});

test("kinds that somebody must act on are permanent and the others are not", () => {
	const permanent = (status: number | undefined, text: string) =>
		classifyEvidence(status === undefined ? { text } : { status, text }).permanent;
	expect([
		permanent(401, ""),
		permanent(402, ""),
		permanent(400, ""),
		permanent(413, ""),
		permanent(undefined, "refusal"),
		permanent(undefined, "content_filter"),
		permanent(501, ""),
		permanent(undefined, "fetch failed: certificate has expired (CERT_HAS_EXPIRED)"),
		permanent(undefined, "it redirected to https://api.example.com, another server"),
		permanent(undefined, "write EPROTO SSL routines:tls_validate_record_header:wrong version number"),
		permanent(undefined, 'Invalid character in header content ["authorization"] (ERR_INVALID_CHAR)'),
	]).toEqual(Array(11).fill(true));
	expect([
		permanent(429, ""),
		permanent(529, ""),
		permanent(500, ""),
		permanent(408, ""),
		permanent(undefined, "ECONNRESET"),
		permanent(undefined, "Stream ended without finish_reason"),
		permanent(undefined, "something odd"),
	]).toEqual(Array(7).fill(false));
});

const failed = (extra: Partial<AssistantMessage>): AssistantMessage => ({
	...emptyMessage(testModel),
	stopReason: "error",
	...extra,
});

test("the attached diagnostic of a message wins over its text", () => {
	const details = { kind: "overloaded", status: 529, retryAfterMs: 2000, permanent: false };
	const diagnostics = [{ type: "provider_stream_failure", timestamp: 0, details }];
	expect(classifyFailure(failed({ errorMessage: "401 nope", diagnostics }))).toEqual(details);
});

test.each([
	["401 status code (no body)", { kind: "auth", status: 401, permanent: true }],
	['429: {"message":"slow down"}', { kind: "rate_limit", status: 429, permanent: false }],
	["500 oops", { kind: "server_error", status: 500, permanent: false }],
	["Error: 503 busy", { kind: "server_error", status: 503, permanent: false }],
	["Network connection lost.", { kind: "network", permanent: false }],
])("a message without diagnostic is read by its text '%s'", (errorMessage, failure) => {
	expect(classifyFailure(failed({ errorMessage }))).toEqual(failure);
});

test("a message that did not fail has no failure", () => {
	expect(classifyFailure(failed({ stopReason: "stop" }))).toBeUndefined();
	expect(classifyFailure(failed({ stopReason: "aborted", errorMessage: "Request was aborted" }))).toBeUndefined();
});
