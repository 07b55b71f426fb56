import type { AssistantMessage } from "@earendil-works/pi-ai";
import { AssistantMessageEventStream } from "@earendil-works/pi-ai/utils/event-stream";
import { expect, test } from "vitest";
import { emptyMessage } from "./faults.ts";
import { handClock } from "./testing/clock.ts";
import {
	call,
	echoTool,
	recordEvents,
	reply,
	scriptModel,
	testConfig,
	testContext,
	testModel,
	text,
	user,
} from "./testing/script.ts";
import { until } from "./testing/until.ts";
import { runTurn } from "./turn.ts";
import type { AgentLoopConfig, AgentMessage, StreamFn } from "./types.ts";

const silent = () => undefined;
const ask = (streamFn: StreamFn, config: Partial<AgentLoopConfig> = {}, signal?: AbortSignal, emit = silent) =>
	runTurn(testContext([user("go")]), testConfig(config), emit, signal, streamFn);

test("a turn announces its opening messages between turn_start and the reply", async () => {
	const { events, emit } = recordEvents();
	const { streamFn, asked } = scriptModel(reply([text("hi")]));
	const prompt = user("go");
	await runTurn(testContext([prompt]), testConfig(), emit, undefined, streamFn, [prompt]);
	expect(events.slice(0, 4).map((event) => event.type)).toEqual([
		"turn_start",
		"message_start",
		"message_end",
		"message_start",
	]);
	expect(asked[0]?.context.messages.filter((message) => message.role === "user")).toHaveLength(1);
	expect(events.some((event) => event.type === "agent_start" || event.type === "agent_end")).toBe(false);
});

test("the stream function gets the request options and the declarations of the tools, and no hooks", async () => {
	const { streamFn, asked } = scriptModel(reply([text("hi")]));
	const config = testConfig({ maxTokens: 7, headers: { a: "b" }, beforeToolCall: () => undefined });
	await runTurn(testContext([user("go")], [echoTool()]), config, silent, undefined, streamFn);
	expect(asked[0]?.options).toEqual({ maxTokens: 7, headers: { a: "b" } });
	const system = asked[0]?.context.messages[0];
	const { name, description, parameters } = echoTool();
	expect(system).toMatchObject({ content: "You are a test.", toolsAdded: [{ name, description, parameters }] });
	expect(Object.keys(system?.role === "system" ? (system.toolsAdded?.[0] ?? {}) : {})).not.toContain("execute");
});

test("getApiKey is asked with the provider and its key replaces the configured one", async () => {
	const { streamFn, asked } = scriptModel(reply([text("hi")]), reply([text("hi")]));
	const providers: string[] = [];
	const getApiKey = (provider: string) => {
		providers.push(provider);
		return "new";
	};
	await ask(streamFn, { apiKey: "old", getApiKey });
	await ask(streamFn, { apiKey: "old", getApiKey: () => undefined });
	expect(providers).toEqual(["test"]);
	expect(asked.map((request) => request.options?.apiKey)).toEqual(["new", "old"]);
});

test("a failing getApiKey ends the turn with an error message and sends nothing", async () => {
	const { streamFn, asked } = scriptModel();
	const getApiKey = () => Promise.reject(new Error("login expired"));
	const { message } = await ask(streamFn, { getApiKey });
	expect(message).toMatchObject({ stopReason: "error", errorMessage: "login expired" });
	expect(asked).toHaveLength(0);
});

test("transformContext changes what the model sees and not the context", async () => {
	const { streamFn, asked } = scriptModel(reply([text("hi")]));
	const context = testContext([user("one"), user("two")]);
	const transformContext = (messages: AgentMessage[]) => {
		messages.shift();
		return messages;
	};
	await runTurn(context, testConfig({ transformContext }), silent, undefined, streamFn);
	expect(asked[0]?.context.messages).toHaveLength(2);
	expect(context.messages).toHaveLength(2);
});

test("a stream function that throws ends the turn with an error message", async () => {
	const { events, emit } = recordEvents();
	const streamFn: StreamFn = () => {
		throw new Error("no such provider");
	};
	const { message, toolResults } = await ask(streamFn, {}, undefined, emit as never);
	expect(message).toMatchObject({ stopReason: "error", errorMessage: "no such provider", provider: "test" });
	expect(toolResults).toEqual([]);
	expect(events.map((event) => event.type)).toEqual(["turn_start", "message_start", "message_end", "turn_end"]);
});

test("a stream that ends without a final message is an error that keeps what was shown", async () => {
	const streamFn: StreamFn = () => {
		const stream = new AssistantMessageEventStream();
		const partial: AssistantMessage = { ...message("pending"), content: [{ type: "text", text: "half" }] };
		stream.push({ type: "start", partial });
		stream.push({ type: "text_delta", contentIndex: 0, delta: "half", partial });
		stream.end();
		return stream;
	};
	expect((await ask(streamFn)).message).toMatchObject({
		stopReason: "error",
		errorMessage: "The model's stream ended without a final message.",
		content: [{ type: "text", text: "half" }],
	});
});

test("a stream that ends by its result alone is taken at its word", async () => {
	const streamFn: StreamFn = () => {
		const stream = new AssistantMessageEventStream();
		stream.end({ ...message("stop"), content: [{ type: "text", text: "whole" }] });
		return stream;
	};
	expect((await ask(streamFn)).message).toMatchObject({ stopReason: "stop", content: [{ text: "whole" }] });
});

test("a message of the reply that a listener kept has the blocks of that moment", async () => {
	const { events, emit } = recordEvents();
	const { streamFn } = scriptModel((stream) => {
		const partial = message("pending");
		stream.push({ type: "start", partial });
		setImmediate(() => {
			partial.content.push(text("a"));
			stream.push({ type: "done", reason: "stop", message: { ...partial, stopReason: "stop" } });
		});
	});
	await ask(streamFn, {}, undefined, emit as never);
	const start = events.find((event) => event.type === "message_start");
	expect(start).toMatchObject({ message: { content: [] } });
});

test("an error that arrives after an abort is shown as the abort", async () => {
	const abort = new AbortController();
	const { streamFn } = scriptModel((stream) => {
		abort.abort();
		stream.push({ type: "error", reason: "error", error: { ...message("error"), errorMessage: "socket closed" } });
	});
	expect((await ask(streamFn, {}, abort.signal)).message).toMatchObject({
		stopReason: "aborted",
		errorMessage: "Request was aborted",
	});
});

test("a stream that ignores the abort is left after the grace period and its text is kept", async () => {
	const clock = handClock();
	const abort = new AbortController();
	const { streamFn } = scriptModel((stream) => {
		const partial: AssistantMessage = { ...message("pending"), content: [{ type: "text", text: "half" }] };
		stream.push({ type: "start", partial });
	});
	const emit = ((event: { type: string }) => {
		if (event.type === "message_start") queueMicrotask(() => abort.abort());
	}) as never;
	const turn = ask(streamFn, { clock, abortGraceMs: 100 }, abort.signal, emit);
	await until(() => clock.waiting() === 1);
	clock.advance(99);
	expect(clock.waiting()).toBe(1);
	clock.advance(1);
	expect((await turn).message).toMatchObject({ stopReason: "aborted", content: [{ text: "half" }] });
});

test("a stream that never opens is left after the grace period", async () => {
	const clock = handClock();
	const abort = new AbortController();
	const never: StreamFn = () => {
		abort.abort();
		return new Promise(() => undefined);
	};
	const turn = ask(never, { clock }, abort.signal);
	await until(() => clock.waiting() === 1);
	clock.advance(5_000);
	expect((await turn).message).toMatchObject({ stopReason: "aborted", content: [] });
});

test("a throwing sink makes the turn reject with its error", async () => {
	const emit = () => {
		throw new Error("disk full");
	};
	await expect(ask(scriptModel(reply([text("x")])).streamFn, {}, undefined, emit)).rejects.toThrow("disk full");
});

test("an id that an earlier reply has used is replaced in the message and its result", async () => {
	const tool = echoTool();
	const earlier = { ...message("toolUse"), content: [call("call_0", "echo", { text: "a" })] };
	const { streamFn } = scriptModel(reply([call("call_0", "echo", { text: "b" })]));
	const turn = await runTurn(testContext([user("go"), earlier], [tool]), testConfig(), silent, undefined, streamFn);
	expect(turn.message.content[0]).toMatchObject({ id: "call_0_2" });
	expect(turn.toolResults[0]).toMatchObject({ toolCallId: "call_0_2", isError: false });
});

function message(stopReason: AssistantMessage["stopReason"]): AssistantMessage {
	return { ...emptyMessage(testModel), stopReason };
}
