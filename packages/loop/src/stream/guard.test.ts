import { type ModelServer, raw, reply, type Step, startChatServer } from "@prime-agent/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { textOf } from "../testing/script.ts";
import { callGuarded, canaryKey } from "../testing/server.ts";
import { classifyFailure, type FailureKind } from "./failure.ts";

const greeting = "hello wörld 你好 👋🏽";
const sse = { "content-type": "text/event-stream" };
let server: ModelServer;
beforeAll(async () => {
	server = await startChatServer();
});
afterAll(() => server.close());

function call(step: Step, options: Parameters<typeof callGuarded>[1] = {}) {
	server.script(step);
	return callGuarded(server.baseUrl, options);
}

test.each<[string, Parameters<typeof reply>[0]]>([
	["as a server should", {}],
	["one byte at a time", { split: "byte" }],
	["with comments in between", { comments: true }],
	["with CR LF", { crlf: true, split: 3 }],
	["without an end marker but with a finish reason", { end: "missing" }],
	["with two finish events", { duplicateFinish: true }],
])("a reply that comes %s is a success with its text intact", async (_how, wire) => {
	const { message, events } = await call(reply({ text: greeting, ...wire }));
	expect(message).toMatchObject({ stopReason: "stop", content: [{ type: "text", text: greeting }] });
	expect(message.errorMessage).toBeUndefined();
	expect(events.at(-1)?.type).toBe("done");
});

test("characters that bytes cut in two are intact in text, thinking and arguments (P01)", async () => {
	const { message } = await call(
		reply({
			thinking: greeting,
			text: greeting,
			calls: [{ id: "c1", name: "echo", arguments: { text: greeting } }],
			split: "byte",
		}),
	);
	expect(message.content).toMatchObject([
		{ type: "thinking", thinking: greeting },
		{ type: "text", text: greeting },
		{ type: "toolCall", arguments: { text: greeting } },
	]);
});

test.each<[string, Step, FailureKind, number | undefined]>([
	["ends without a finish reason", reply({ text: greeting, end: "no-finish" }), "truncated", undefined],
	["just ends", reply({ text: greeting, end: "cut" }), "truncated", undefined],
	["loses its connection", reply({ text: greeting, end: "disconnect-after-3-events" }), "network", undefined],
	[
		"ends with an error event",
		reply({ text: greeting, errorInStream: { message: "x", type: "overloaded_error" } }),
		"overloaded",
		undefined,
	],
	[
		"ends with an error object",
		reply({ text: greeting, errorInStream: { message: "x", code: 500 } }),
		"server_error",
		500,
	],
	["is filtered", reply({ text: greeting, finish: "refusal" }), "safety", undefined],
	["is filtered before it began", reply({ finish: "refusal" }), "safety", undefined],
	["is empty", reply({}), "unknown", undefined],
	["is only thinking", reply({ thinking: "hm" }), "unknown", undefined],
	["has no body", raw({ status: 200, headers: sse }), "truncated", undefined],
	[
		"has only an error event",
		raw({
			status: 200,
			headers: sse,
			body: 'event: error\ndata: {"error":{"message":"x","type":"rate_limit_error"}}\n\n',
		}),
		"rate_limit",
		undefined,
	],
	[
		"is a JSON error with status 200",
		raw({ status: 200, body: { error: { message: "x", type: "server_error" } } }),
		"server_error",
		undefined,
	],
	[
		"is a page with status 200",
		raw({ status: 200, headers: { "content-type": "text/html" }, body: "<html>" }),
		"invalid_request",
		undefined,
	],
	["is a 400", raw({ status: 400, body: { error: { message: "roles must alternate" } } }), "invalid_request", 400],
	["is a 401 without body", raw({ status: 401 }), "auth", 401],
	["is a 402", raw({ status: 402, body: { error: { message: "pay" } } }), "billing", 402],
	["is a 403", raw({ status: 403, body: { error: { message: "no" } } }), "auth", 403],
	[
		"is a quota that is used up",
		raw({ status: 429, body: { error: { code: "insufficient_quota", message: "x" } } }),
		"billing",
		429,
	],
	["is a 408", raw({ status: 408 }), "timeout", 408],
	["is a 413", raw({ status: 413 }), "context_overflow", 413],
	["is a 429", raw({ status: 429, body: "slow down" }), "rate_limit", 429],
	["is a 500", raw({ status: 500, body: "oops" }), "server_error", 500],
	[
		"is a 502 page",
		raw({ status: 502, headers: { "content-type": "text/html" }, body: "<html>" }),
		"server_error",
		502,
	],
	["is a 529", raw({ status: 529 }), "overloaded", 529],
])("a reply that %s is an error of its kind, asked for once", async (_how, step, kind, status) => {
	const before = server.requests.length;
	const { message, events } = await call(step);
	expect(message.stopReason).toBe("error");
	expect(message.errorMessage).toMatch(/\S/);
	expect(events.at(-1)?.type).toBe("error");
	const failure = classifyFailure(message);
	expect([failure?.kind, failure?.status]).toEqual([kind, status]);
	expect(message.diagnostics?.at(-1)).toMatchObject({ type: "provider_stream_failure", details: { kind } });
	expect(server.requests.length).toBe(before + 1);
});

test.each<[string, Parameters<typeof reply>[0]]>([
	["ends without a finish reason", { end: "cut" }],
	["loses its connection", { end: "disconnect-after-20-events" }],
	["reports an error", { errorInStream: { message: "x" } }],
	["is filtered", { finish: "refusal" }],
])("text that was shown stays in the message of a reply that %s", async (_how, wire) => {
	const { message } = await call(reply({ text: greeting.repeat(20), chunk: 4, ...wire }));
	expect(message.stopReason).toBe("error");
	expect(greeting.repeat(20).startsWith(textOf(message))).toBe(true);
	expect(textOf(message).length).toBeGreaterThan(20);
});

test("a server that cannot be reached is a network failure that names it", async () => {
	const { message } = await callGuarded("http://127.0.0.1:9/v1");
	expect(classifyFailure(message)).toEqual({ kind: "network", permanent: false });
	expect(message.errorMessage).toContain("127.0.0.1:9");
	expect(message.errorMessage).toMatch(/ECONNREFUSED|bad port/);
});

test.each<[string, Record<string, string>, number | undefined]>([
	["seconds", { "retry-after": "2" }, 2_000],
	["very many seconds", { "retry-after": "999999" }, 999_999_000],
	["milliseconds", { "retry-after-ms": "1500" }, 1_500],
	["a reset", { "x-ratelimit-reset-tokens": "1m3s" }, 63_000],
	["nothing", {}, undefined],
])("a wait that a 429 names by %s is attached", async (_form, headers, retryAfterMs) => {
	const { message } = await call(raw({ status: 429, headers, body: { error: { message: "slow down" } } }));
	expect(classifyFailure(message)?.retryAfterMs).toBe(retryAfterMs);
});

test("a wait that a 529 names by a date is attached", async () => {
	const date = new Date(Date.now() + 3_600_000).toUTCString();
	const { message } = await call(raw({ status: 529, headers: { "retry-after": date } }));
	const wait = classifyFailure(message)?.retryAfterMs ?? 0;
	expect(wait).toBeGreaterThan(3_000_000);
	expect(wait).toBeLessThanOrEqual(3_600_000);
});

test("a permanent failure carries no wait", async () => {
	const { message } = await call(raw({ status: 401, headers: { "retry-after": "2" } }));
	expect(message.diagnostics?.at(-1)?.details).toEqual({ kind: "auth", status: 401, permanent: true });
});

test("an empty reply is a success for those who allow it", async () => {
	const { message } = await call(reply({}), { allowEmptyReply: true });
	expect(message.stopReason).toBe("stop");
});

test("a reply cut by its output limit stays what it is", async () => {
	const { message } = await call(reply({ text: greeting, finish: "length" }));
	expect([message.stopReason, message.diagnostics]).toEqual(["length", undefined]);
});

test("the key of a request reaches neither error nor debug output, also when the server echoes it", async () => {
	const seen: string[] = [];
	const headers = { "x-extra-token": "canary-extra-token-1" };
	const debug = (record: unknown) => void seen.push(JSON.stringify(record));
	const body = { error: { message: `Incorrect API key provided: ${canaryKey}; ${headers["x-extra-token"]}` } };
	const refused = await call(raw({ status: 401, body }), { debug, headers, prompt: `my key is ${canaryKey}` });
	const broken = await call(
		reply({ text: `echo ${canaryKey} of ${headers["x-extra-token"]}`, chunk: 500, end: "cut" }),
		{ debug, headers },
	);
	const everything = `${seen.join("\n")}${refused.message.errorMessage}${broken.message.errorMessage}`;
	expect(everything).toContain("[redacted]");
	expect(everything).not.toContain("canary");
	expect(server.requests.at(-1)?.headers.authorization).toBe(`Bearer ${canaryKey}`);
});

test("debug output has the request, the status and every line of the answer", async () => {
	const seen: { type: string; [field: string]: unknown }[] = [];
	await call(reply({ text: "hi", comments: true }), { debug: (record) => void seen.push(record) });
	expect(seen[0]).toMatchObject({ type: "request", method: "POST", url: `${server.baseUrl}/chat/completions` });
	expect(seen[0]?.body).toContain("You are a test.");
	expect(seen[1]).toMatchObject({ type: "response", status: 200 });
	const lines = seen.filter((record) => record.type === "line").map((record) => record.text);
	expect(lines).toContain(": keep-alive");
	expect(lines.at(-1)).toBe("data: [DONE]");
});

test("debug output has the body of an error and the failure", async () => {
	const seen: unknown[] = [];
	await call(raw({ status: 500, body: { error: { message: "oops" } } }), { debug: (record) => void seen.push(record) });
	expect(seen.slice(-2)).toEqual([
		{ type: "body", text: '{"error":{"message":"oops"}}' },
		{ type: "failure", text: "500 oops" },
	]);
});
