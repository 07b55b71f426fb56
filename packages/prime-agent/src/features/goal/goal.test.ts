import { obj } from "@earendil-works/pi-schema";
import { fail, type ModelStep, reply } from "@prime-agent/testkit";
import { expect, test } from "vitest";
import { defineFeature } from "../../session/host.ts";
import { SessionLog } from "../../session/log.ts";
import { createMemoryStore } from "../../session/storage/memory.ts";
import { HEADER, openBench } from "../../session/testing/harness.ts";
import { goal } from "./feature.ts";
import type { Goal } from "./state.ts";

/** Stands for the kernel: a tool whose calls reach the goal through the kernel's door. */
function kernelFeature(requests: readonly string[]) {
	const waiting = [...requests];
	return defineFeature({
		name: "cell",
		setup(host) {
			host.registerTool({
				name: "cell",
				label: "Cell",
				description: "Runs the next request",
				parameters: obj({}),
				async execute() {
					const request = waiting.shift();
					const answer = request ? await current.session.call(request, {}, "kernel") : "worked";
					return { content: [{ type: "text", text: JSON.stringify(answer) }], details: {} };
				},
			});
		},
	});
}

let current: ReturnType<typeof openBench>;

function open(steps: readonly ModelStep[], requests: readonly string[] = [], log?: SessionLog) {
	current = openBench({ features: [kernelFeature(requests), goal], steps, ...(log ? { log } : {}) });
	return current;
}

const cell = (usage = { input: 10, output: 5 }) => reply({ calls: [{ name: "cell", arguments: {} }], usage });
const text = (value: string, usage = { input: 10, output: 5 }) => reply({ text: value, usage });

async function goalOf(bench: ReturnType<typeof openBench>): Promise<Record<string, unknown> | null> {
	return ((await bench.session.call("goal.get", {}, "client")) as { goal: Record<string, unknown> | null }).goal;
}

test("a goal sends the model back to work until it completes it, and not once more", async () => {
	const bench = open([cell(), text("Am I done?"), cell(), text("All done.")], ["goal.get", "goal.complete"]);
	await bench.say("/goal Ship it");
	expect(bench.spoken()).toEqual([
		expect.stringContaining("goal_context: <goal_context>\nThe user set a goal"),
		"assistant: cell",
		expect.stringContaining("toolResult:"),
		"assistant: Am I done?",
		expect.stringContaining("goal_context: <goal_context>\nThe goal is not comp"),
		"assistant: cell",
		expect.stringContaining("completion_budget_report"),
		"assistant: All done.",
	]);
	expect(await goalOf(bench)).toMatchObject({ objective: "Ship it", status: "complete" });
});

test("the model's context names the objective each time it is sent back", async () => {
	const bench = open([text("hm"), text("hm"), text("hm")]);
	await bench.say("/goal Count to three");
	const last = bench.model.calls.at(-1)!.context.messages.filter((message) => message.role === "user");
	expect(last.every((message) => String(message.content).includes("Goal: Count to three"))).toBe(true);
});

test("three turns without a tool call pause the goal instead of asking for ever", async () => {
	const bench = open(Array.from({ length: 9 }, () => text("I am waiting for your confirmation.")));
	await bench.say("/goal Deploy");
	expect(bench.model.calls).toHaveLength(3);
	expect(await goalOf(bench)).toMatchObject({ status: "paused", reason: "no_progress" });
});

test("a failing model neither counts as progress nor is asked again", async () => {
	const bench = open([fail("500 no"), fail("500 no")]);
	await bench.say("/goal Deploy");
	expect(bench.model.calls).toHaveLength(1);
	expect(await goalOf(bench)).toMatchObject({ status: "active" });
});

test("a used up budget asks for one summary and starts nothing new", async () => {
	const bench = open([cell({ input: 60, output: 60 }), text("Summary."), text("never")]);
	await bench.say("/goal --budget 100 Migrate");
	expect(bench.spoken().filter((line) => line.startsWith("goal_context"))).toHaveLength(2);
	expect(bench.spoken().at(-1)).toBe("assistant: Summary.");
	expect(await goalOf(bench)).toMatchObject({
		status: "budget_limited",
		tokens_used: 120,
		token_budget: 100,
		reason: null,
	});
});

test("turns after completion are not billed to the goal", async () => {
	const bench = open([cell({ input: 10, output: 5 }), text("Done.", { input: 1000, output: 1000 })], ["goal.complete"]);
	await bench.say("/goal Ship it");
	expect(await goalOf(bench)).toMatchObject({ status: "complete", tokens_used: 15 });
});

test("the turn that completes a goal is billed to it, once, and its report says so", async () => {
	const requests = ["goal.get", "goal.complete"];
	const bench = open([cell(), cell({ input: 100, output: 50 }), text("Done.")], requests);
	await bench.say("/goal Ship it");
	expect(await goalOf(bench)).toMatchObject({ tokens_used: 165 });
	expect(bench.spoken().join()).toContain("Tokens used: 165");
});

test("the turn in which a person pauses a goal is billed to it, and no later one", async () => {
	const bench = open([cell({ input: 100, output: 50 }), text("Stopped."), text("more")], ["goal.get"]);
	const unsubscribe = bench.session.subscribe(async (event) => {
		if (event.type !== "tool_execution_start") return;
		unsubscribe();
		await bench.session.call("goal.change", { to: "paused" }, "client");
	});
	await bench.say("/goal Ship it");
	await bench.say("Something else");
	expect(await goalOf(bench)).toMatchObject({ status: "paused", tokens_used: 150 });
});

test("clients hear of each change of the goal", async () => {
	const bench = open([text("a"), text("b"), text("c")]);
	await bench.say("/goal Ship it");
	const updates = bench.events.filter((event) => event.type === "feature_event" && event.name === "goal_update");
	expect(updates.length).toBe(4);
});

test("a goal survives closing and opening the session, and follows the branch", async () => {
	const store = createMemoryStore();
	const bench = open([text("a"), text("b"), text("c")], [], SessionLog.create(HEADER, store));
	await bench.say("hello");
	const before = bench.log.leafId;
	await bench.session.call("goal.create", { objective: "Later" }, "kernel");
	const reopened = open([], [], SessionLog.open({ store, tornBytes: 0 }, HEADER));
	expect(await goalOf(reopened)).toMatchObject({ objective: "Later", status: "active" });
	const log = SessionLog.open({ store, tornBytes: 0 }, HEADER);
	log.moveTo(before);
	expect(await goalOf(open([], [], log))).toBeNull();
});

test.each([
	["an empty objective", { objective: "  " }, "needs an objective"],
	["an objective that is too long", { objective: "x".repeat(4001) }, "4001 characters"],
	["a budget of nothing", { objective: "x", token_budget: 0 }, "positive whole number"],
	["a budget that is no number", { objective: "x", token_budget: "many" }, "goal.create"],
])("%s is refused with a reason", async (_name, params, reason) => {
	const { session } = open([]);
	await expect(session.call("goal.create", params, "kernel")).rejects.toThrow(reason);
});

test("a goal cannot replace one that is active, paused or out of budget, but one that is complete", async () => {
	const { session } = open([]);
	const create = (objective: string) => session.call("goal.create", { objective }, "kernel");
	await create("one");
	await expect(create("two")).rejects.toMatchObject({ code: "refused" });
	await session.call("goal.change", { to: "paused" }, "client");
	await expect(create("two")).rejects.toMatchObject({ code: "refused" });
	await session.call("goal.complete", {}, "kernel");
	expect(await create("two")).toMatchObject({ goal: { objective: "two", status: "active" } satisfies Partial<Goal> });
});

test("the model can complete a goal and cannot pause or clear it", async () => {
	const { session } = open([]);
	await session.call("goal.create", { objective: "x" }, "kernel");
	await expect(session.call("goal.change", { to: "cleared" }, "kernel")).rejects.toMatchObject({
		code: "unknown_operation",
	});
	await expect(session.call("goal.complete", {}, "client")).rejects.toMatchObject({ code: "unknown_operation" });
});

test.each([
	"/goal --budget x y",
	"/goal --budget 5",
	"/goal --nope",
	"/goal help",
	"/goal pause it",
	"/goal status now",
])("%s answers with the usage and changes nothing", async (line) => {
	const bench = open([]);
	await expect(bench.say(line)).rejects.toThrow("Usage: /goal");
	expect(await goalOf(bench)).toBeNull();
});

test("a complete goal is not made active again", async () => {
	const { session } = open([]);
	await session.call("goal.create", { objective: "x" }, "kernel");
	await session.call("goal.complete", {}, "kernel");
	await expect(session.call("goal.change", { to: "active" }, "client")).rejects.toThrow("Set a new one");
});

test("whoever waits for a goal gets the agent's answers, and no state from before the work", async () => {
	const bench = open([cell(), text("Done.")], ["goal.complete"]);
	expect(await bench.say("/goal Ship it")).toEqual({ actionId: 0, stage: "completed" });
	expect(await bench.say("/goal status")).toMatchObject({ said: expect.stringContaining("Goal complete: Ship it") });
});
