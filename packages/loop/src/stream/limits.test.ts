import { AssistantMessageEventStream } from "@earendil-works/pi-ai/utils/event-stream";
import { normalizeContext } from "@earendil-works/pi-ai/utils/transcript";
import { reply, startChatServer } from "@prime-agent/testkit";
import { expect, test } from "vitest";
import { emptyMessage } from "../faults.ts";
import { handClock } from "../testing/clock.ts";
import { testModel, textOf } from "../testing/script.ts";
import { callGuarded } from "../testing/server.ts";
import { until } from "../testing/until.ts";
import { classifyFailure } from "./failure.ts";
import { guardStream } from "./guard.ts";

const off = { firstByteMs: 0, idleMs: 0, progressMs: 0, totalMs: 0 };

test.each([
	["never answers", "before-headers", { firstByteMs: 100 }, /sent nothing for 0.1 s/],
	["sends only headers", "after-headers", { firstByteMs: 100 }, /sent nothing for 0.1 s/],
	["falls silent in the middle", { afterEvents: 4 }, { idleMs: 100 }, /fell silent for 0.1 s/],
	["takes too long as a whole", { afterEvents: 4 }, { totalMs: 100 }, /not complete after 0.1 s/],
] as const)("a server that %s is left with a timeout (P25)", async (_how, silence, limits, text) => {
	await using server = await startChatServer();
	server.script(reply({ text: "hello there", chunk: 1, silence }));
	const { message } = await callGuarded(server.baseUrl, { ...off, ...limits });
	expect(message.stopReason).toBe("error");
	expect(message.errorMessage).toMatch(text);
	expect(classifyFailure(message)).toEqual({ kind: "timeout", permanent: false });
	expect("hello there".startsWith(textOf(message))).toBe(true);
});

test("a server that sends comments for ever is left when the progress limit runs out (P03)", async () => {
	await using server = await startChatServer();
	server.script(reply({ text: "hello there", chunk: 1, comments: true, silence: { afterEvents: 4 } }));
	const { message } = await callGuarded(server.baseUrl, { ...off, idleMs: 25_000, progressMs: 300 });
	expect(message.errorMessage).toMatch(/kept the connection open but sent nothing of the reply for 0.3 s/);
	expect(classifyFailure(message)?.kind).toBe("timeout");
	expect(textOf(message)).not.toBe("");
});

test("a server whose comments bridge a pause longer than the idle limit is healthy (P03)", async () => {
	const clock = handClock();
	await using server = await startChatServer();
	const enough = Promise.withResolvers<void>();
	const silence = { afterEvents: 2, until: enough.promise };
	server.script(reply({ text: "hello there", comments: true, silence }));
	const debug = (record: { type: string; text?: string }) => {
		if (record.type !== "line" || !record.text?.startsWith(":")) return;
		clock.advance(20_000);
		if (clock.now() > 120_000) enough.resolve();
	};
	const { message } = await callGuarded(server.baseUrl, { ...off, idleMs: 60_000, progressMs: 1e9, clock, debug });
	expect([message.stopReason, textOf(message)]).toEqual(["stop", "hello there"]);
});

test("an adapter without fetch is watched by its events", async () => {
	const clock = handClock();
	const partial = { ...emptyMessage(testModel), content: [{ type: "text" as const, text: "half" }] };
	const streamFn = guardStream({
		...off,
		firstByteMs: 1_000,
		idleMs: 100,
		clock,
		streamFn: (_model, _context, options) => {
			const stream = new AssistantMessageEventStream();
			stream.push({ type: "start", partial });
			stream.push({ type: "text_delta", contentIndex: 0, delta: "half", partial });
			options?.signal?.addEventListener("abort", () => {
				stream.push({ type: "error", reason: "aborted", error: { ...partial, stopReason: "aborted" } });
			});
			return stream;
		},
	});
	const stream = await streamFn(testModel, normalizeContext({ messages: [] }));
	const events: string[] = [];
	const reading = (async () => {
		for await (const event of stream) events.push(event.type);
	})();
	await until(() => events.length === 2);
	clock.advance(100);
	await reading;
	const message = await stream.result();
	expect(message.errorMessage).toMatch(/fell silent/);
	expect(textOf(message)).toBe("half");
});

test("an adapter that ignores its signal is left a second after the limit", async () => {
	const clock = handClock();
	const streamFn = guardStream({ ...off, firstByteMs: 100, clock, streamFn: () => new AssistantMessageEventStream() });
	const stream = await streamFn(testModel, normalizeContext({ messages: [] }));
	await until(() => clock.waiting() === 1);
	clock.advance(100);
	await until(() => clock.waiting() === 1);
	clock.advance(1_000);
	expect(classifyFailure(await stream.result())?.kind).toBe("timeout");
	expect(clock.waiting()).toBe(0);
});

test("a stream function that throws becomes an error message", async () => {
	const streamFn = guardStream({
		streamFn: () => {
			throw new Error("No API key found for test.");
		},
	});
	const stream = await streamFn(testModel, normalizeContext({ messages: [] }));
	expect(classifyFailure(await stream.result())).toEqual({ kind: "auth", permanent: true });
});

test.each([
	["before the headers", "before-headers"],
	["after the headers", "after-headers"],
	["after some events", { afterEvents: 4 }],
] as const)("an abort %s ends the call at once, keeps the text and closes the connection", async (_when, silence) => {
	const abort = new AbortController();
	await using server = await startChatServer();
	server.script(reply({ text: "hello there", chunk: 1, silence }));
	const calling = callGuarded(server.baseUrl, {
		...off,
		signal: abort.signal,
		onEvent: (event) => {
			if (event.type === "text_delta") abort.abort();
		},
	});
	await server.waitForRequests(1);
	if (silence === "before-headers" || silence === "after-headers") abort.abort();
	const { message } = await calling;
	expect([message.stopReason, message.errorMessage]).toEqual(["aborted", "Request was aborted"]);
	expect(message.diagnostics).toBeUndefined();
	expect("hello there".startsWith(textOf(message))).toBe(true);
});
