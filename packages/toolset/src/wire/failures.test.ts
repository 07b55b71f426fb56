import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { retryDelay, type StreamFn } from "@prime-agent/loop";
import { raw, reply } from "@prime-agent/testkit";
import { expect, test } from "vitest";
import { createRetrySettings } from "../session/request.ts";
import { defaultSettings } from "../session/settings.ts";
import { echo, openWire } from "../testing/wire.ts";

const done = reply({ text: "done" });
const fail = (status: number, headers: Record<string, string> = {}) =>
	raw({ status, headers, body: { type: "error", error: { type: "api_error", message: "no" } } });

test.each([[[500]], [[529, 503]]])("after the statuses %j the next answer counts", async (statuses) => {
	await using at = await openWire("anthropic", [...statuses.map((status) => fail(status)), done]);
	expect(await at.run()).toEqual({ reason: "stop" });
	expect(at.server.modelRequests).toHaveLength(statuses.length + 1);
});

test("three failures in a row are the end", async () => {
	await using at = await openWire("anthropic", [fail(500), fail(500), fail(500)]);
	expect(await at.run()).toMatchObject({ reason: "error", failure: "server_error" });
	expect(at.server.modelRequests).toHaveLength(3);
	expect(
		at.events.filter((event) => event.type === "message_start" && event.message.role === "assistant"),
	).toHaveLength(1);
});

test.each([
	[401, "auth"],
	[403, "auth"],
	[404, "invalid_request"],
	[400, "invalid_request"],
	[422, "invalid_request"],
	[413, "context_overflow"],
])("status %s is a failure of kind %s without another attempt", async (status, failure) => {
	await using at = await openWire("anthropic", [
		raw({ status, body: { type: "error", error: { type: "e", message: "no" } } }),
	]);
	const end = await at.run();
	expect(end.reason).toBe("error");
	expect(status === 413 ? ["context_overflow", "invalid_request"] : [failure]).toContain(end.failure);
	expect(at.server.modelRequests).toHaveLength(1);
	expect(at.session.state).toBe("closed");
});

test("the server's word on how long to wait is heard", async () => {
	await using at = await openWire("anthropic", [fail(429, { "retry-after": "1" }), done]);
	expect(await at.run()).toEqual({ reason: "stop" });
	expect(at.events.find((event) => event.type === "retry")).toMatchObject({ attempt: 1, delayMs: 1000 });
	const [first, second] = at.server.modelRequests;
	expect(second!.at - first!.at).toBeGreaterThanOrEqual(990);
});

test("a server that asks for more than a minute is not asked again", async () => {
	await using at = await openWire("anthropic", [fail(429, { "retry-after": "120" })]);
	expect(await at.run()).toMatchObject({ reason: "error", failure: "rate_limit" });
	expect(at.server.modelRequests).toHaveLength(1);
});

test("waits double up to a minute and are spread by half", () => {
	const failure = { kind: "server_error", permanent: false } as const;
	const settings = { ...createRetrySettings({ ...defaultSettings, maxRetries: 20 }), jitter: () => 1 };
	expect([1, 2, 3, 4, 7, 12].map((attempt) => retryDelay(failure, attempt, settings))).toEqual([
		1000, 2000, 4000, 8000, 60_000, 60_000,
	]);
	const spread = createRetrySettings(defaultSettings);
	const waits = Array.from({ length: 1000 }, () => retryDelay(failure, 1, spread) ?? 0);
	expect(Math.min(...waits)).toBeGreaterThanOrEqual(500);
	expect(Math.max(...waits)).toBeLessThanOrEqual(1500);
	expect(new Set(waits).size).toBeGreaterThan(100);
});

test("without retries one failure is the end", async () => {
	await using at = await openWire("anthropic", [fail(500)], { settings: { maxRetries: 0 } });
	expect(await at.run()).toMatchObject({ reason: "error" });
	expect(at.server.modelRequests).toHaveLength(1);
});

test("a connection that breaks before the answer is tried again", async () => {
	await using at = await openWire("anthropic", [reply({ text: "x", end: "disconnect-after-0-events" }), done]);
	expect(await at.run()).toEqual({ reason: "stop" });
});

test("a port where nobody listens is a failure of the network after all attempts", async () => {
	const closed = createServer().listen(0, "127.0.0.1");
	await new Promise((resolve) => closed.once("listening", resolve));
	const { port } = closed.address() as AddressInfo;
	await new Promise((resolve) => closed.close(resolve));
	await using at = await openWire("anthropic", [], { url: `http://127.0.0.1:${port}` });
	expect(await at.run()).toMatchObject({ reason: "error", failure: "network" });
	expect(at.events.filter((event) => event.type === "retry")).toHaveLength(2);
});

test("a server that falls silent is given up, and the wait is not repeated", async () => {
	await using at = await openWire("anthropic", [reply({ text: "x", silence: "after-headers" })], {
		limits: { idleMs: 200, firstByteMs: 200 },
	});
	expect(await at.run()).toMatchObject({ reason: "error", failure: "timeout" });
	expect(at.server.modelRequests).toHaveLength(1);
});

test("a prompt that is too long is told as a warning and ends the session", async () => {
	await using at = await openWire("anthropic", [], { contextWindow: 10 });
	expect(await at.run("word ".repeat(500))).toMatchObject({ reason: "error", failure: "context_overflow" });
	expect(at.events).toContainEqual({
		type: "warning",
		kind: "context",
		message: expect.stringContaining("no longer fits"),
	});
	expect(at.session.state).toBe("closed");
});

test("another attempt in a later turn does not run the tools of an earlier one again", async () => {
	const ran: string[] = [];
	await using at = await openWire("anthropic", [reply({ calls: [echo("once")] }), fail(500), done], {
		onEcho: (text) => ran.push(text),
	});
	expect(await at.run()).toEqual({ reason: "stop" });
	expect(ran).toEqual(["once"]);
	expect(at.server.modelRequests[2]?.raw).toBe(at.server.modelRequests[1]?.raw);
});

test("an error page that is no JSON is told with its status", async () => {
	const page = raw({
		status: 502,
		headers: { "content-type": "text/html" },
		body: "<html><h1>Bad Gateway of the proxy</h1></html>",
	});
	await using at = await openWire("anthropic", [page, page, page]);
	expect(await at.run()).toMatchObject({ reason: "error", error: expect.stringMatching(/^502\b/) });
	expect(JSON.stringify(at.debug)).toContain("Bad Gateway of the proxy");
});

test.each([{ comments: true }, { crlf: true }, { split: "byte" as const }, { split: 7 }])(
	"an answer that travels with %j is understood",
	async (wire) => {
		await using at = await openWire("anthropic", [reply({ text: "whole – 漢 answer", ...wire })]);
		expect(await at.run()).toEqual({ reason: "stop" });
		expect(at.session.lastText).toBe("whole – 漢 answer");
	},
);

test("an abort in the middle of an answer is no failure of the server and not tried again", async () => {
	await using at = await openWire("anthropic", [reply({ text: "begun and", silence: { afterEvents: 3 } })]);
	const running = at.run();
	await at.server.waitForRequests(1);
	await at.session.close();
	expect(await running).toMatchObject({ reason: "aborted" });
	expect(at.server.modelRequests).toHaveLength(1);
});

/** Notes the requests that pass and the ends of their replies. */
function watchStream(name: string, seen: string[], inner: StreamFn): StreamFn {
	return async (model, context, request) => {
		seen.push(`${name} asks`);
		const stream = await inner(model, context, request);
		async function* pass() {
			for await (const event of stream) {
				if (event.type === "text_end" || event.type === "done") seen.push(`${name} has ${event.type}`);
				yield event;
			}
		}
		return Object.assign(Object.create(stream), { [Symbol.asyncIterator]: pass });
	};
}

test("what a host puts around the stream sees the request from the outside in and the events from the inside out", async () => {
	const seen: string[] = [];
	await using at = await openWire("anthropic", [done], {
		around: (inner) => watchStream("a", seen, watchStream("b", seen, inner)),
	});
	expect(await at.run()).toEqual({ reason: "stop" });
	expect(seen).toEqual(["a asks", "b asks", "b has text_end", "a has text_end", "b has done", "a has done"]);
});
