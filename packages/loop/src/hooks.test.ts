import { expect, test } from "vitest";
import { runCalls } from "./testing/calls.ts";
import { handClock } from "./testing/clock.ts";
import { call, echoTool } from "./testing/script.ts";
import { until } from "./testing/until.ts";

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
