import { expect, test } from "vitest";
import { runCalls } from "./testing/calls.ts";
import { handClock } from "./testing/clock.ts";
import { call, echoTool, textOf } from "./testing/script.ts";
import { until } from "./testing/until.ts";
import type { AgentEvent } from "./types.ts";

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

test("beforeToolCall is not asked about calls that wait when the abort comes", async () => {
	const abort = new AbortController();
	const asked: string[] = [];
	const beforeToolCall = ({ toolCall }: { toolCall: { id: string } }) => {
		asked.push(toolCall.id);
		abort.abort();
		return undefined;
	};
	const { toolResults } = await runCalls([call("c1", "echo", { text: "" }), call("c2", "echo", { text: "" })], {
		signal: abort.signal,
		config: { beforeToolCall },
	});
	expect(asked).toEqual(["c1"]);
	expect(toolResults.map((result) => result.isError)).toEqual([true, true]);
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
