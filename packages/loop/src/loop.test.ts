import { expect, test } from "vitest";
import { agentLoop, agentLoopContinue, runAgentLoop, runAgentLoopContinue } from "./loop.ts";
import {
	call,
	echoTool,
	recordEvents,
	reply,
	scriptModel,
	testConfig,
	testContext,
	text,
	textOf,
	user,
} from "./testing/script.ts";
import type { AgentMessage } from "./types.ts";

test("a prompt run emits its events in the order that JSON mode shows", async () => {
	const { events, emit } = recordEvents();
	const { streamFn } = scriptModel(reply([call("c1", "echo", { text: "hi" })]), reply([text("done")]));
	await runAgentLoop([user("go")], testContext([], [echoTool()]), testConfig(), emit, undefined, streamFn);
	const told = events.map((event) => ("message" in event ? `${event.type} ${event.message.role}` : event.type));
	expect(told).toEqual([
		"agent_start",
		"turn_start",
		"message_start user",
		"message_end user",
		"message_start assistant",
		"message_update assistant",
		"message_update assistant",
		"message_end assistant",
		"tool_execution_start",
		"tool_execution_end",
		"message_start toolResult",
		"message_end toolResult",
		"turn_end assistant",
		"turn_start",
		"message_start assistant",
		"message_update assistant",
		"message_update assistant",
		"message_update assistant",
		"message_end assistant",
		"turn_end assistant",
		"agent_end",
	]);
});

test("a run answers the messages it added and leaves the given context as it was", async () => {
	const { streamFn, asked } = scriptModel(reply([call("c1", "echo", { text: "hi" })]), reply([text("done")]));
	const context = testContext([user("before")], [echoTool()]);
	const added = await runAgentLoop([user("go")], context, testConfig(), () => undefined, undefined, streamFn);
	expect(added.map((message) => message.role)).toEqual(["user", "assistant", "toolResult", "assistant"]);
	expect(context.messages).toEqual([user("before")]);
	expect(asked[1]?.context.messages.map((message) => message.role)).toEqual([
		"system",
		"user",
		"user",
		"assistant",
		"toolResult",
	]);
});

test("the stream of a run ends on agent_end and results in the added messages", async () => {
	const { streamFn } = scriptModel(reply([text("hello")]));
	const stream = agentLoop([user("go")], testContext([]), testConfig(), undefined, streamFn);
	const types: string[] = [];
	for await (const event of stream) types.push(event.type);
	expect(types.at(-1)).toBe("agent_end");
	expect((await stream.result()).map((message) => message.role)).toEqual(["user", "assistant"]);
});

test("a hook that breaks its contract ends the stream with [] and shows the error as a message", async () => {
	const config = testConfig({
		convertToLlm: () => {
			throw new Error("bad converter");
		},
	});
	const stream = agentLoop([user("go")], testContext([]), config, undefined, scriptModel().streamFn);
	const shown: AgentMessage[] = [];
	const types: string[] = [];
	for await (const event of stream) {
		types.push(event.type);
		if (event.type === "message_end") shown.push(event.message);
	}
	expect(await stream.result()).toEqual([]);
	expect(shown.at(-1)).toMatchObject({ role: "assistant", stopReason: "error", errorMessage: "bad converter" });
	expect(types.slice(-4)).toEqual(["message_start", "message_end", "turn_end", "agent_end"]);
});

test("runAgentLoop rejects with what a hook threw against its contract", async () => {
	const config = testConfig({
		transformContext: () => {
			throw new Error("bad transform");
		},
	});
	const run = runAgentLoop([user("go")], testContext([]), config, () => undefined, undefined, scriptModel().streamFn);
	await expect(run).rejects.toThrow("bad transform");
});

test("continuing an empty context is an error with a fixed text", async () => {
	const { streamFn } = scriptModel();
	expect(() => agentLoopContinue(testContext([]), testConfig(), undefined, streamFn)).toThrow(
		new Error("Cannot continue: no messages in context"),
	);
	await expect(
		runAgentLoopContinue(testContext([]), testConfig(), () => undefined, undefined, streamFn),
	).rejects.toThrow(new Error("Cannot continue: no messages in context"));
});

test("continuing after an assistant message is an error with a fixed text", async () => {
	const { streamFn } = scriptModel(reply([text("hi")]));
	const added = await runAgentLoop([user("a")], testContext([]), testConfig(), () => undefined, undefined, streamFn);
	expect(() => agentLoopContinue(testContext(added), testConfig(), undefined, streamFn)).toThrow(
		new Error("Cannot continue from message role: assistant"),
	);
});

test("a continued run asks the model again and answers only the new messages", async () => {
	const { streamFn, asked } = scriptModel(reply([text("again")]));
	const stream = agentLoopContinue(testContext([user("question")]), testConfig(), undefined, streamFn);
	expect((await stream.result()).map((message) => message.role)).toEqual(["assistant"]);
	expect(asked).toHaveLength(1);
});

test("a run that is aborted beforehand reaches no model and ends with an aborted message", async () => {
	const { streamFn, asked } = scriptModel(reply([text("never")]));
	const added = await runAgentLoop(
		[user("go")],
		testContext([]),
		testConfig(),
		() => undefined,
		AbortSignal.abort(),
		streamFn,
	);
	expect(asked).toHaveLength(0);
	expect(added.at(-1)).toMatchObject({ stopReason: "aborted", errorMessage: "Request was aborted" });
});

test("the signal of the configuration aborts a run that was given none", async () => {
	const { streamFn, asked } = scriptModel(reply([text("never")]));
	const config = testConfig({ signal: AbortSignal.abort() });
	const added = await runAgentLoop([user("go")], testContext([]), config, () => undefined, undefined, streamFn);
	expect([asked.length, added.at(-1)]).toMatchObject([0, { stopReason: "aborted" }]);
});

test("an abort during a tool call keeps its result and ends the run with an aborted message", async () => {
	const { streamFn, asked } = scriptModel(reply([call("c1", "echo", { text: "x" })]), reply([text("never")]));
	const abort = new AbortController();
	const tool = echoTool({
		async execute() {
			abort.abort();
			return { content: [{ type: "text", text: "half" }], details: undefined };
		},
	});
	const added = await runAgentLoop(
		[user("go")],
		testContext([], [tool]),
		testConfig(),
		() => undefined,
		abort.signal,
		streamFn,
	);
	expect(added.map((message) => message.role)).toEqual(["user", "assistant", "toolResult", "assistant"]);
	expect(added[2]).toMatchObject({ content: [{ text: "half" }], isError: false });
	expect(added[3]).toMatchObject({ stopReason: "aborted", errorMessage: "Request was aborted" });
	expect(asked).toHaveLength(1);
});

test("a model error ends the run after that turn", async () => {
	const { streamFn, asked } = scriptModel(reply([text("par")], { stopReason: "error", errorMessage: "500" }));
	const config = testConfig({ getFollowUpMessages: () => [user("more")] });
	const added = await runAgentLoop([user("go")], testContext([]), config, () => undefined, undefined, streamFn);
	expect(added.at(-1)).toMatchObject({ stopReason: "error", errorMessage: "500", content: [{ text: "par" }] });
	expect(asked).toHaveLength(1);
});

test("steering messages are taken at the start and after the tool calls and open the next turn", async () => {
	const { streamFn, asked } = scriptModel(reply([call("c1", "echo", { text: "x" })]), reply([text("done")]));
	const queue: AgentMessage[] = [user("first")];
	const tool = echoTool({
		async execute() {
			queue.push(user("second"));
			return { content: [], details: undefined };
		},
	});
	const config = testConfig({ getSteeringMessages: () => queue.splice(0) });
	const added = await runAgentLoop([user("go")], testContext([], [tool]), config, () => undefined, undefined, streamFn);
	expect(added.map((message) => (message.role === "user" ? textOf(message) : message.role))).toEqual([
		"go",
		"first",
		"assistant",
		"toolResult",
		"second",
		"assistant",
	]);
	expect(asked[1]?.context.messages.at(-1)).toMatchObject({ content: "second" });
});

test("steering messages stay where they wait when the run was aborted", async () => {
	const { streamFn } = scriptModel(reply([call("c1", "echo", { text: "x" })]));
	const abort = new AbortController();
	const queue: AgentMessage[] = [];
	const tool = echoTool({
		async execute() {
			queue.push(user("late"));
			abort.abort();
			return { content: [], details: undefined };
		},
	});
	const config = testConfig({ getSteeringMessages: () => queue.splice(0) });
	await runAgentLoop([user("go")], testContext([], [tool]), config, () => undefined, abort.signal, streamFn);
	expect(queue).toEqual([user("late")]);
});

test("follow-up messages are taken only when the run would end and start another turn", async () => {
	const { streamFn, asked } = scriptModel(
		reply([call("c1", "echo", { text: "x" })]),
		reply([text("one")]),
		reply([text("two")]),
	);
	const queue = [user("more")];
	const requestsWhenAsked: number[] = [];
	const config = testConfig({
		getFollowUpMessages: () => {
			requestsWhenAsked.push(asked.length);
			return queue.splice(0);
		},
	});
	await runAgentLoop([user("go")], testContext([], [echoTool()]), config, () => undefined, undefined, streamFn);
	expect(requestsWhenAsked).toEqual([2, 3]);
});

test("shouldStopAfterTurn ends the run before queued messages are taken", async () => {
	const { streamFn, asked } = scriptModel(reply([call("c1", "echo", { text: "x" })]), reply([text("never")]));
	const queue = [user("waiting")];
	const seen: number[] = [];
	const config = testConfig({
		getFollowUpMessages: () => queue.splice(0),
		shouldStopAfterTurn: ({ context, newMessages, toolResults }) => {
			seen.push(context.messages.length, newMessages.length, toolResults.length);
			return true;
		},
	});
	await runAgentLoop([user("go")], testContext([], [echoTool()]), config, () => undefined, undefined, streamFn);
	expect({ seen, requests: asked.length, waiting: queue.length }).toEqual({ seen: [3, 3, 1], requests: 1, waiting: 1 });
});

test("a turn whose results all ask to terminate ends the run", async () => {
	const { streamFn, asked } = scriptModel(
		reply([call("c1", "echo", { text: "x" }), call("c2", "echo", { text: "y" })]),
	);
	const tool = echoTool({ execute: async () => ({ content: [], details: undefined, terminate: true }) });
	await runAgentLoop([user("go")], testContext([], [tool]), testConfig(), () => undefined, undefined, streamFn);
	expect(asked).toHaveLength(1);
});

test("a turn in which only some results ask to terminate goes on", async () => {
	const { streamFn, asked } = scriptModel(
		reply([call("c1", "echo", { text: "x" }), call("c2", "echo", { text: "y" })]),
		reply([text("done")]),
	);
	const tool = echoTool({
		execute: async (id) => ({ content: [], details: undefined, terminate: id === "c1" }),
	});
	await runAgentLoop([user("go")], testContext([], [tool]), testConfig(), () => undefined, undefined, streamFn);
	expect(asked).toHaveLength(2);
});

test("a reply cut by its output limit has its calls answered and the model is asked again", async () => {
	const tool = echoTool();
	const { streamFn, asked } = scriptModel(
		reply([call("c1", "echo", { text: "x" })], { stopReason: "length" }),
		reply([text("shorter")]),
	);
	const added = await runAgentLoop(
		[user("go")],
		testContext([], [tool]),
		testConfig(),
		() => undefined,
		undefined,
		streamFn,
	);
	expect(tool.runs).toEqual([]);
	expect(asked).toHaveLength(2);
	expect(added[2]).toMatchObject({ role: "toolResult", toolCallId: "c1", isError: true });
});
