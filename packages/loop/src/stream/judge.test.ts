import type { AssistantMessage } from "@earendil-works/pi-ai";
import { expect, test } from "vitest";
import { emptyMessage } from "../faults.ts";
import { testModel, text } from "../testing/script.ts";
import type { Exchange } from "./exchange.ts";
import { classifyFailure } from "./failure.ts";
import { judgeReply, type ReplyEvidence } from "./judge.ts";
import { createRedactor } from "./redact.ts";
import { scanBody } from "./scan.ts";

const message = (extra: Partial<AssistantMessage>): AssistantMessage => ({
	...emptyMessage(testModel),
	content: [text("shown")],
	...extra,
});

function answered(body: string, contentType = "text/event-stream", api = "openai-completions"): Exchange {
	const scanner = scanBody(contentType, api);
	scanner.push(new TextEncoder().encode(body));
	scanner.end();
	const headers = new Headers({ "content-type": contentType });
	return { host: "api.example.com", status: 200, headers, body: scanner };
}

function judge(received: AssistantMessage, evidence: Partial<ReplyEvidence>) {
	const judged = judgeReply(received, {
		limits: { firstByteMs: 1, idleMs: 1, progressMs: 1, totalMs: 1 },
		isAborted: false,
		allowEmptyReply: false,
		redactor: createRedactor(),
		nowMs: 0,
		...evidence,
	});
	return { judged, kind: classifyFailure(judged)?.kind };
}

const whole = 'data: {"choices":[{"finish_reason":"stop"}]}\n\n';

test("a good message of a complete stream stays the very same object", () => {
	const good = message({ stopReason: "stop" });
	expect(judge(good, { exchange: answered(whole) }).judged).toBe(good);
	expect(judge(good, {}).judged).toBe(good);
});

test("a success that an adapter made of a stream without an end is none", () => {
	const { judged, kind } = judge(message({ stopReason: "stop" }), { exchange: answered('data: {"choices":[]}\n\n') });
	expect([judged.stopReason, kind]).toEqual(["error", "truncated"]);
	expect(judged.content).toEqual([text("shown")]);
});

test("a success that an adapter made of a stream with an error in it is none", () => {
	const exchange = answered(`data: {"error":{"message":"x","type":"overloaded_error"}}\n\n${whole}`);
	expect(judge(message({ stopReason: "stop" }), { exchange }).kind).toBe("overloaded");
});

test("a success that an adapter made of an earlier refused request stays one", () => {
	const exchange: Exchange = { host: "api.example.com", status: 500 };
	expect(judge(message({ stopReason: "stop" }), { exchange }).kind).toBeUndefined();
});

test("a success that came before the abort stays one, and anything else becomes the abort", () => {
	expect(judge(message({ stopReason: "stop" }), { isAborted: true }).judged.stopReason).toBe("stop");
	const { judged } = judge(message({ stopReason: "error", errorMessage: "socket" }), { isAborted: true });
	expect(judged).toMatchObject({ stopReason: "aborted", errorMessage: "Request was aborted" });
});

test("the deepest cause of a failed connection is told", () => {
	const cause = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
	const exchange: Exchange = { host: "api.example.com", networkError: new TypeError("fetch failed", { cause }) };
	const { judged, kind } = judge(message({ stopReason: "error" }), { exchange });
	expect([kind, judged.errorMessage]).toEqual([
		"network",
		"Could not reach api.example.com: fetch failed: connect ECONNREFUSED",
	]);
});

test("a failure keeps the diagnostics that were there", () => {
	const diagnostics = [{ type: "other", timestamp: 0 }];
	const { judged } = judge(message({ stopReason: "error", errorMessage: "socket hang up", diagnostics }), {});
	expect(judged.diagnostics?.map(({ type }) => type)).toEqual(["other", "provider_stream_failure"]);
});

test("a long error text is cut and has neither line ends nor terminal control", () => {
	const { judged } = judge(message({ stopReason: "error", errorMessage: `a\r\nb\t\u001b${"x".repeat(10_000)}` }), {});
	expect(judged.errorMessage).toMatch(/^a b x+$/);
	expect(judged.errorMessage).toHaveLength(2_000);
});

test("a message that never got a stop reason is no success", () => {
	expect(judge(message({ stopReason: "pending" }), {}).judged.stopReason).toBe("error");
});

test("a failure that gathers no failures is told in its own words", () => {
	const networkError = new AggregateError([], "All promises were rejected");
	const { judged } = judge(message({ stopReason: "error" }), { exchange: { host: "localhost", networkError } });
	expect(judged.errorMessage).toBe("Could not reach localhost: All promises were rejected");
});

test("a host that no address of it answers is told with the first address that was tried", () => {
	const refused = ["::1", "127.0.0.1"].map((at) => new Error(`connect ECONNREFUSED ${at}:80`));
	const networkError = Object.assign(new AggregateError(refused), { code: "ECONNREFUSED" });
	const { judged, kind } = judge(message({ stopReason: "error" }), { exchange: { host: "localhost", networkError } });
	expect([judged.errorMessage, kind]).toEqual(["Could not reach localhost: connect ECONNREFUSED ::1:80", "network"]);
});
