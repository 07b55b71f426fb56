import { expect, test } from "vitest";
import { handClock } from "./testing/clock.ts";
import {
	call,
	echoTool,
	type ReplyOptions,
	recordEvents,
	reply,
	scriptModel,
	testConfig,
	testContext,
	textOf,
	user,
} from "./testing/script.ts";
import { until } from "./testing/until.ts";
import { runTurn } from "./turn.ts";
import type { AgentEvent, AgentEventSink, AgentLoopConfig, AgentTool, AgentToolUpdateCallback } from "./types.ts";

type Call = ReturnType<typeof call>;

interface Setup {
	tools?: AgentTool[];
	config?: Partial<AgentLoopConfig>;
	reply?: ReplyOptions;
	signal?: AbortSignal;
	emit?: AgentEventSink;
}

function runCalls(calls: Call[], setup: Setup = {}) {
	const { streamFn } = scriptModel(reply(calls, setup.reply));
	const context = testContext([user("go")], setup.tools ?? [echoTool()]);
	return runTurn(context, testConfig(setup.config), setup.emit ?? (() => undefined), setup.signal, streamFn);
}

test("a complete call runs with its validated arguments and is answered once", async () => {
	const tool = echoTool();
	const { toolResults } = await runCalls([call("c1", "echo", { text: "hi" })], { tools: [tool] });
	expect(tool.runs).toEqual([{ text: "hi" }]);
	expect(toolResults).toMatchObject([
		{ toolCallId: "c1", toolName: "echo", isError: false, content: [{ text: "hi" }] },
	]);
});

test("a complete call runs when the reply says stop instead of toolUse", async () => {
	const tool = echoTool();
	await runCalls([call("c1", "echo", { text: "hi" })], { tools: [tool], reply: { stopReason: "stop" } });
	expect(tool.runs).toHaveLength(1);
});

test.each(["length", "error", "aborted", "deferred"] as const)(
	"a call never runs when its reply ends as %s, and is answered with the reason",
	async (stopReason) => {
		const tool = echoTool();
		const { toolResults } = await runCalls([call("c1", "echo", { text: "hi" })], {
			tools: [tool],
			reply: { stopReason },
		});
		expect(tool.runs).toEqual([]);
		expect(toolResults).toMatchObject([{ toolCallId: "c1", isError: true }]);
		expect(textOf(toolResults[0]!)).toContain("The call was not run");
	},
);

test("a call without its end event never runs", async () => {
	const tool = echoTool();
	const { toolResults } = await runCalls([call("c1", "echo", { text: "a" }), call("c2", "echo", { text: "b" })], {
		tools: [tool],
		reply: { withoutEnd: [1] },
	});
	expect(tool.runs).toEqual([{ text: "a" }]);
	expect(toolResults.map((result) => result.isError)).toEqual([false, true]);
});

test("a call whose arguments did not parse never runs and the model is told what it sent", async () => {
	const tool = echoTool();
	const broken = { ...call("c1", "echo", {}), argumentsError: 'Unterminated string in {"text": "rm -' } as Call;
	const { toolResults } = await runCalls([broken], { tools: [tool] });
	expect(tool.runs).toEqual([]);
	expect(textOf(toolResults[0]!)).toContain('{"text": "rm -');
});

test("a call whose arguments do not match the schema never runs and the field is named", async () => {
	const tool = echoTool();
	const { toolResults } = await runCalls([call("c1", "echo", { txt: "hi" })], { tools: [tool] });
	expect(tool.runs).toEqual([]);
	expect(toolResults[0]?.isError).toBe(true);
	expect(textOf(toolResults[0]!)).toContain("text");
});

test("doubled end and finish events run a call once", async () => {
	const tool = echoTool();
	const { toolResults } = await runCalls([call("c1", "echo", { text: "x" })], {
		tools: [tool],
		reply: { doubled: true },
	});
	expect(tool.runs).toHaveLength(1);
	expect(toolResults).toHaveLength(1);
});

test("a call that repeats another word for word runs once and both are answered under ids of their own", async () => {
	const tool = echoTool();
	const { message, toolResults } = await runCalls(
		[call("c1", "echo", { text: "x" }), call("c1", "echo", { text: "x" })],
		{
			tools: [tool],
		},
	);
	expect(tool.runs).toHaveLength(1);
	expect(message.content.map((block) => "id" in block && block.id)).toEqual(["c1", "c1_2"]);
	expect(toolResults.map(({ toolCallId, isError }) => [toolCallId, isError])).toEqual([
		["c1", false],
		["c1_2", true],
	]);
});

test("different calls that share an id both run under ids of their own", async () => {
	const tool = echoTool();
	const { toolResults } = await runCalls([call("", "echo", { text: "x" }), call("", "echo", { text: "y" })], {
		tools: [tool],
	});
	expect(tool.runs).toHaveLength(2);
	expect(new Set(toolResults.map((result) => result.toolCallId)).size).toBe(2);
});

test("an unknown tool is answered with the names of the known ones", async () => {
	const { toolResults } = await runCalls([call("c1", "nope")]);
	expect(textOf(toolResults[0]!)).toBe("Unknown tool: nope. There are: echo.");
	expect(toolResults[0]?.isError).toBe(true);
});

test("a tool that throws is answered with its message", async () => {
	const tool = echoTool({
		execute() {
			throw new Error("disk full");
		},
	});
	const { toolResults } = await runCalls([call("c1", "echo", { text: "x" })], { tools: [tool] });
	expect(toolResults).toMatchObject([{ isError: true, content: [{ text: "disk full" }] }]);
});

test("a tool that answers nonsense is answered with an error", async () => {
	const tool = echoTool({ execute: async () => undefined as never });
	const { toolResults } = await runCalls([call("c1", "echo", { text: "x" })], { tools: [tool] });
	expect(toolResults).toMatchObject([
		{ isError: true, content: [{ text: expect.stringContaining("no valid result") }] },
	]);
});

test("a tool may report an error with details, which reach the result and the end event", async () => {
	const { events, emit } = recordEvents();
	const tool = echoTool({ execute: async () => ({ content: [], details: { code: 3 }, isError: true }) });
	const { toolResults } = await runCalls([call("c1", "echo", { text: "x" })], { tools: [tool], emit });
	expect(toolResults).toMatchObject([{ isError: true, details: { code: 3 } }]);
	expect(events.find((event) => event.type === "tool_execution_end")).toMatchObject({
		isError: true,
		result: { isError: true, details: { code: 3 } },
	});
});

test("prepareArguments repairs the arguments before they are validated, and its failure is the answer", async () => {
	const tool = echoTool({ prepareArguments: (raw) => ({ text: (raw as { txt: string }).txt.trim() }) });
	const { toolResults } = await runCalls([call("c1", "echo", { txt: " hi " }), call("c2", "echo", {})], {
		tools: [tool],
	});
	expect(tool.runs).toEqual([{ text: "hi" }]);
	expect(toolResults.map((result) => result.isError)).toEqual([false, true]);
});

test("calls of one reply overlap, and results keep the order of the calls", async () => {
	const { events, emit } = recordEvents();
	const gate = Promise.withResolvers<void>();
	const tool = echoTool({
		async execute(id) {
			if (id === "slow") await gate.promise;
			return { content: [{ type: "text", text: id }], details: undefined };
		},
	});
	const { toolResults } = await runCalls([call("slow", "echo", { text: "" }), call("fast", "echo", { text: "" })], {
		tools: [tool],
		emit: (event) => {
			emit(event);
			if (event.type === "tool_execution_end" && event.toolCallId === "fast") gate.resolve();
		},
	});
	const ends = events.filter((event) => event.type === "tool_execution_end").map((event) => event.toolCallId);
	expect(ends).toEqual(["fast", "slow"]);
	expect(toolResults.map((result) => result.toolCallId)).toEqual(["slow", "fast"]);
});

test.each([
	["the configuration", { toolExecution: "sequential" }, undefined],
	["a tool", {}, "sequential"],
] as const)("calls run one after the other when %s asks for it", async (_who, config, executionMode) => {
	const order: string[] = [];
	const tool = echoTool({
		...(executionMode ? { executionMode } : {}),
		async execute(id) {
			order.push(`start ${id}`);
			await new Promise((resolve) => setImmediate(resolve));
			order.push(`end ${id}`);
			return { content: [], details: undefined };
		},
	});
	await runCalls([call("a", "echo", { text: "" }), call("b", "echo", { text: "" })], { tools: [tool], config });
	expect(order).toEqual(["start a", "end a", "start b", "end b"]);
});

test("updates are told in order between start and end, and those after the end are ignored", async () => {
	const { events, emit } = recordEvents();
	let update: AgentToolUpdateCallback | undefined;
	const partial = (value: string) => ({ content: [{ type: "text" as const, text: value }], details: undefined });
	const tool = echoTool({
		async execute(_id, _params, _signal, onUpdate) {
			update = onUpdate;
			onUpdate?.(partial("1"));
			onUpdate?.(partial("2"));
			return partial("end");
		},
	});
	await runCalls([call("c1", "echo", { text: "" })], { tools: [tool], emit });
	update?.(partial("late"));
	await new Promise((resolve) => setImmediate(resolve));
	const told = events.filter((event) => event.type.startsWith("tool_execution"));
	expect(told.map((event) => ("partialResult" in event ? textOf(event.partialResult) : event.type))).toEqual([
		"tool_execution_start",
		"1",
		"2",
		"tool_execution_end",
	]);
});

test("beforeToolCall sees the validated arguments in call order, and the tool receives the same value", async () => {
	const seen: unknown[] = [];
	const tool = echoTool();
	await runCalls([call("c1", "echo", { text: "a" }), call("c2", "echo", { text: "b" })], {
		tools: [tool],
		config: {
			beforeToolCall: ({ args, toolCall, context }) => {
				seen.push([toolCall.id, args, context.messages.at(-1)?.role]);
				return undefined;
			},
		},
	});
	expect(seen).toEqual([
		["c1", { text: "a" }, "assistant"],
		["c2", { text: "b" }, "assistant"],
	]);
	expect(tool.runs).toEqual([{ text: "a" }, { text: "b" }]);
});

test("beforeToolCall is not asked about a call that cannot run", async () => {
	let asked = 0;
	await runCalls([call("c1", "echo", {}), call("c2", "nope")], {
		config: { beforeToolCall: () => void asked++ as undefined },
	});
	expect(asked).toBe(0);
});

test("a call that beforeToolCall blocks is answered with its reason and does not run", async () => {
	const tool = echoTool();
	const { toolResults } = await runCalls([call("c1", "echo", { text: "a" })], {
		tools: [tool],
		config: { beforeToolCall: async () => ({ block: true, reason: "not today" }) },
	});
	expect(tool.runs).toEqual([]);
	expect(toolResults).toMatchObject([{ isError: true, content: [{ text: "not today" }] }]);
});

test("a throwing beforeToolCall refuses the call", async () => {
	const tool = echoTool();
	const { toolResults } = await runCalls([call("c1", "echo", { text: "a" })], {
		tools: [tool],
		config: {
			beforeToolCall: () => {
				throw new Error("policy file is broken");
			},
		},
	});
	expect(tool.runs).toEqual([]);
	expect(toolResults).toMatchObject([{ isError: true, content: [{ text: "policy file is broken" }] }]);
});

test("afterToolCall replaces the fields it gives and leaves the others", async () => {
	const tool = echoTool({ execute: async () => ({ content: [{ type: "text", text: "raw" }], details: { a: 1 } }) });
	const { toolResults, terminate } = await runCalls([call("c1", "echo", { text: "" })], {
		tools: [tool],
		config: { afterToolCall: () => ({ content: [{ type: "text", text: "cut" }], isError: true, terminate: true }) },
	});
	expect(toolResults).toMatchObject([{ content: [{ text: "cut" }], details: { a: 1 }, isError: true }]);
	expect(terminate).toBe(true);
});

test("afterToolCall is called for a failed call and not for a refused one", async () => {
	const seen: boolean[] = [];
	const tool = echoTool({ execute: () => Promise.reject(new Error("no")) });
	await runCalls([call("c1", "echo", { text: "" }), call("c2", "nope")], {
		tools: [tool],
		config: { afterToolCall: ({ isError }) => void seen.push(isError) as undefined },
	});
	expect(seen).toEqual([true]);
});

test("a throwing afterToolCall turns the result into an error", async () => {
	const { toolResults } = await runCalls([call("c1", "echo", { text: "x" })], {
		config: { afterToolCall: () => Promise.reject(new Error("hook broke")) },
	});
	expect(toolResults).toMatchObject([{ isError: true, content: [{ text: "hook broke" }] }]);
});

test("an aborted tool that settles in the grace period keeps its answer", async () => {
	const abort = new AbortController();
	const tool = echoTool({
		async execute(_id, _params, signal) {
			queueMicrotask(() => abort.abort());
			await new Promise((resolve) => signal?.addEventListener("abort", resolve));
			return { content: [{ type: "text", text: "half of it" }], details: undefined };
		},
	});
	const { toolResults } = await runCalls([call("c1", "echo", { text: "" })], { tools: [tool], signal: abort.signal });
	expect(toolResults).toMatchObject([{ isError: false, content: [{ text: "half of it" }] }]);
});

test("an aborted tool that never settles is answered after the grace period", async () => {
	const clock = handClock();
	const abort = new AbortController();
	const tool = echoTool({ execute: () => new Promise(() => undefined) });
	const turn = runCalls([call("c1", "echo", { text: "" }), call("c2", "echo", { text: "" })], {
		tools: [tool],
		signal: abort.signal,
		config: { clock, abortGraceMs: 250 },
		emit: (event) => {
			if (event.type === "tool_execution_start" && event.toolCallId === "c2") setImmediate(() => abort.abort());
		},
	});
	await until(() => clock.waiting() === 2);
	clock.advance(250);
	const { toolResults } = await turn;
	expect(toolResults.map((result) => [result.toolCallId, result.isError])).toEqual([
		["c1", true],
		["c2", true],
	]);
	expect(textOf(toolResults[0]!)).toContain("may have had effects");
});

test("calls that wait when the abort comes are answered and never run", async () => {
	const abort = new AbortController();
	const tool = echoTool({
		async execute(id) {
			tool.runs.push(id);
			abort.abort();
			return { content: [], details: undefined };
		},
	});
	const { toolResults } = await runCalls([call("c1", "echo", { text: "" }), call("c2", "echo", { text: "" })], {
		tools: [tool],
		signal: abort.signal,
		config: { toolExecution: "sequential" },
	});
	expect(tool.runs).toEqual(["c1"]);
	expect(toolResults.map((result) => result.isError)).toEqual([false, true]);
});

test("a beforeToolCall that waits for a person is left after an abort and the call is refused", async () => {
	const clock = handClock();
	const abort = new AbortController();
	const tool = echoTool();
	const turn = runCalls([call("c1", "echo", { text: "" })], {
		tools: [tool],
		signal: abort.signal,
		config: {
			clock,
			beforeToolCall: () => {
				queueMicrotask(() => abort.abort());
				return new Promise(() => undefined);
			},
		},
	});
	await until(() => clock.waiting() === 1);
	clock.advance(5_000);
	expect((await turn).toolResults).toMatchObject([{ isError: true }]);
	expect(tool.runs).toEqual([]);
});

test("a sink that throws stops the running tools before the turn rejects", async () => {
	let stopped = false;
	const tool = echoTool({
		execute: (_id, _params, signal, onUpdate) =>
			new Promise((resolve) => {
				signal?.addEventListener("abort", () => {
					stopped = true;
					resolve({ content: [], details: undefined });
				});
				onUpdate?.({ content: [], details: undefined });
			}),
	});
	const emit = (event: AgentEvent) => {
		if (event.type === "tool_execution_update") throw new Error("disk full");
	};
	await expect(runCalls([call("c1", "echo", { text: "" })], { tools: [tool], emit })).rejects.toThrow("disk full");
	expect(stopped).toBe(true);
});

test("a slow sink gets one event at a time", async () => {
	let open = 0;
	let most = 0;
	const emit = async () => {
		most = Math.max(most, ++open);
		await new Promise((resolve) => setImmediate(resolve));
		open--;
	};
	await runCalls([call("c1", "echo", { text: "" }), call("c2", "echo", { text: "" })], { emit });
	expect(most).toBe(1);
});
