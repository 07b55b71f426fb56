import { expect, test } from "vitest";
import { runCalls } from "./testing/calls.ts";
import { call, echoTool, recordEvents, textOf } from "./testing/script.ts";
import type { AgentToolUpdateCallback } from "./types.ts";

type Call = ReturnType<typeof call>;

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

test.each(["length", "deferred"] as const)(
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

test.each(["error", "aborted"] as const)(
	"a reply that ends as %s has its calls neither run nor answered",
	async (stopReason) => {
		const tool = echoTool();
		const { events, emit } = recordEvents();
		const { message, toolResults } = await runCalls([call("c1", "echo", { text: "hi" })], {
			tools: [tool],
			reply: { stopReason },
			emit,
		});
		expect(tool.runs).toEqual([]);
		expect(toolResults).toEqual([]);
		expect(message.content).toHaveLength(1);
		expect(events.filter((event) => event.type.startsWith("tool_execution"))).toEqual([]);
	},
);

test("a call whose name no server would take is answered under a name that all take", async () => {
	const { message, toolResults } = await runCalls([call("c1", "functions.echo()"), call("c2", "")]);
	expect(message.content.map((block) => block.type === "toolCall" && block.name)).toEqual([
		"functions_echo__",
		"unnamed",
	]);
	expect(toolResults.map((result) => [result.toolName, result.isError])).toEqual([
		["functions_echo__", true],
		["unnamed", true],
	]);
});

test("a call of a reply that was cut is told that the output limit was reached", async () => {
	const { toolResults } = await runCalls([call("c1", "echo", { text: "hi" })], { reply: { stopReason: "length" } });
	expect(textOf(toolResults[0]!)).toContain("output limit");
});

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
