import { obj, str } from "@earendil-works/pi-schema";
import { fail, reply } from "@prime-agent/testkit";
import { describe, expect, test } from "vitest";
import { defineOperation } from "../protocol/operation.ts";
import { abortRun, getState, sendPrompt } from "../protocol/session-operations.ts";
import { defineFeature } from "./host.ts";
import type { Session } from "./session.ts";
import { openBench } from "./testing/harness.ts";

/** A tool that answers with what it was given, and lets a test act while it runs. */
function echoFeature(whileRunning: (text: string) => void | Promise<void> = () => undefined) {
	return defineFeature({
		name: "echo",
		setup(host) {
			host.registerTool({
				name: "echo",
				label: "Echo",
				description: "Says it again",
				parameters: obj({ text: str() }),
				async execute(_id, params) {
					const { text } = params as { text: string };
					await whileRunning(text);
					return { content: [{ type: "text", text }], details: {} };
				},
			});
		},
	});
}

const call = (text: string) => reply({ calls: [{ name: "echo", arguments: { text } }] });

test("a prompt runs turns until the model calls nothing more, and every message is in the log in order", async () => {
	const bench = openBench({ features: [echoFeature()], steps: [call("one"), call("two"), reply({ text: "done" })] });
	expect(await bench.say("go")).toMatchObject({ stage: "completed" });
	expect(bench.spoken()).toEqual([
		"user: go",
		"assistant: echo",
		"toolResult: one",
		"assistant: echo",
		"toolResult: two",
		"assistant: done",
	]);
});

test("one run has one agent_start and one agent_end around all of its turns", async () => {
	const bench = openBench({ features: [echoFeature()], steps: [call("one"), reply({ text: "done" })] });
	await bench.say("go");
	const frames = bench.events.map((event) => event.type).filter((type) => /^(agent|turn)_/.test(type));
	expect(frames).toEqual(["agent_start", "turn_start", "turn_end", "turn_start", "turn_end", "agent_end"]);
});

test("a message is in the log before anybody hears that it has ended", async () => {
	const bench = openBench({ steps: [reply({ text: "hello" })] });
	const known: boolean[] = [];
	bench.session.subscribe((event) => {
		if (event.type !== "message_end") return;
		known.push(bench.log.branch(new Set(["message"])).some((entry) => entry.message === event.message));
	});
	await bench.say("hi");
	expect(known).toEqual([true, true]);
});

test("steering reaches the model after the running calls and before its next reply", async () => {
	const steer = () => bench.session.call(sendPrompt.name, { text: "stop that", lane: "steer" }, "client");
	const bench = openBench({
		features: [echoFeature(async () => void (await steer()))],
		steps: [call("one"), reply({ text: "stopped" })],
	});
	await bench.say("go");
	expect(bench.spoken()).toEqual([
		"user: go",
		"assistant: echo",
		"toolResult: one",
		"user: stop that",
		"assistant: stopped",
	]);
});

test("a follow-up waits until the run would end and then belongs to it", async () => {
	const follow = () => bench.session.call(sendPrompt.name, { text: "and then", lane: "followUp" }, "client");
	const bench = openBench({
		features: [echoFeature(async () => void (await follow()))],
		steps: [call("one"), reply({ text: "first" }), reply({ text: "second" })],
	});
	await bench.say("go");
	expect(bench.spoken().slice(3)).toEqual(["assistant: first", "user: and then", "assistant: second"]);
	expect(bench.events.filter((event) => event.type === "agent_end")).toHaveLength(1);
});

test("a prompt without a lane is refused while a run goes on, and says what to do", async () => {
	let refusal: unknown;
	const bench = openBench({
		features: [
			echoFeature(async () => {
				refusal = await bench.session.call(sendPrompt.name, { text: "me too" }, "client").catch((error) => error);
			}),
		],
		steps: [call("one"), reply({ text: "done" })],
	});
	await bench.say("go");
	expect(refusal).toMatchObject({ code: "busy", message: expect.stringContaining("followUp") });
});

test("an error of the model fails the prompt with its text and nothing continues by itself", async () => {
	let asked = 0;
	const eager = defineFeature({
		name: "eager",
		setup: (host) => {
			host.atBoundary("continue", () => {
				asked++;
				return { kind: "prompt", content: { text: "go on", customType: "note" } };
			});
		},
	});
	const bench = openBench({ features: [eager], steps: [fail("500 the server is unwell")] });
	expect(await bench.say("go")).toMatchObject({ stage: "failed", error: "500 the server is unwell" });
	expect({ asked, calls: bench.model.calls.length }).toEqual({ asked: 0, calls: 1 });
});

test("aborting ends the run, keeps what was said and gives back what was queued", async () => {
	const bench = openBench({ steps: [reply({ text: "a long story", chunk: 1, silence: { afterEvents: 3 } })] });
	const said = bench.say("tell");
	await bench.model.waitForCalls(1);
	await bench.session.call(sendPrompt.name, { text: "later", lane: "followUp" }, "client");
	expect(await bench.session.call(abortRun.name, {}, "client")).toEqual({ restored: ["later"] });
	expect(await said).toMatchObject({ stage: "cancelled" });
	expect(await bench.session.call(getState.name, {}, "client")).toMatchObject({ isStreaming: false, queuedCount: 0 });
});

test("a feature that throws at a boundary is reported and stops nobody", async () => {
	const broken = defineFeature({
		name: "broken",
		setup: (host) => {
			host.atBoundary("account", () => {
				throw new Error("boom");
			});
			host.on("idle", () => Promise.reject(new Error("bang")));
		},
	});
	const bench = openBench({ features: [broken], steps: [reply({ text: "fine" })] });
	expect(await bench.say("go")).toMatchObject({ stage: "completed" });
	await bench.session.dispose();
	const faults = bench.events.filter((event) => event.type === "feature_error");
	expect(faults).toEqual([
		{ type: "feature_error", feature: "broken", during: "boundary", error: "boom" },
		{ type: "feature_error", feature: "broken", during: "on idle", error: "bang" },
	]);
});

test("phases follow their order whatever the order of registration", async () => {
	const order: string[] = [];
	const at = (phase: "continue" | "maintain" | "account") =>
		defineFeature({
			name: phase,
			setup: (host) =>
				host.atBoundary(phase, () => {
					order.push(phase);
					return { kind: "pass" };
				}),
		});
	const bench = openBench({
		features: [at("continue"), at("maintain"), at("account")],
		steps: [reply({ text: "ok" })],
	});
	await bench.say("go");
	expect(order).toEqual(["account", "maintain", "continue"]);
});

test("a gate can change a prompt, and a refusal fails it without a request", async () => {
	const gate = defineFeature({
		name: "gate",
		setup: (host) =>
			host.before("prompt", ({ text }) =>
				text.includes("secret") ? { refuse: "That must not be sent." } : { change: { text: `${text}!` } },
			),
	});
	const bench = openBench({ features: [gate], steps: [reply({ text: "ok" })] });
	expect(await bench.say("a secret")).toMatchObject({ stage: "failed", error: "That must not be sent." });
	await bench.say("hello");
	expect(bench.spoken()).toEqual(["user: hello!", "assistant: ok"]);
	expect(bench.model.calls).toHaveLength(1);
});

test("a gate that refuses a tool call gives the model its reason instead of a result (P17)", async () => {
	let ran = 0;
	const guard = defineFeature({
		name: "guard",
		setup: (host) => host.before("tool_call", () => ({ refuse: "Not today." })),
	});
	const bench = openBench({
		features: [echoFeature(() => void ran++), guard],
		steps: [call("one"), reply({ text: "pity" }), reply({ text: "still here" })],
	});
	await bench.say("go");
	expect(bench.spoken()[2]).toContain("Not today.");
	expect(ran).toBe(0);
	const saved = bench.log.branch(new Set(["message"])).map((entry) => (entry.message as { role: string }).role);
	expect(saved).toEqual(["user", "assistant", "toolResult", "assistant"]);
	await bench.say("and now?");
	expect(bench.spoken().at(-1)).toBe("assistant: still here");
});

test("an operation is refused to a door that it does not name and to params that it does not take", async () => {
	const ping = defineOperation({
		name: "ping.send",
		doors: ["kernel"],
		scope: "session",
		effect: "read",
		params: obj({ to: str() }),
		result: obj({ from: str() }),
		names: { kernel: "ping" },
	});
	const feature = defineFeature({ name: "ping", setup: (host) => host.handle(ping, ({ to }) => ({ from: to })) });
	const { session } = openBench({ features: [feature] });
	await expect(session.call("ping.send", { to: "x" }, "client")).rejects.toMatchObject({ code: "unknown_operation" });
	await expect(session.call("ping", { to: 1 }, "kernel")).rejects.toMatchObject({ code: "invalid_params" });
	expect(await session.call("ping", { to: "x" }, "kernel")).toEqual({ from: "x" });
});

describe("an exclusive task that somebody asks for while a turn runs", () => {
	const task = defineOperation({
		name: "task.run",
		doors: ["client", "kernel", "feature"],
		scope: "session",
		effect: "once",
		params: obj({}),
		result: obj({}),
	});

	/** Runs a turn with one call, in which `ask` gets the session; gives what happened in order. */
	async function runTurnThatAsks(ask: (session: Session) => Promise<unknown>) {
		const order: string[] = [];
		const feature = defineFeature({
			name: "task",
			setup: (host) =>
				host.handle(task, (_params, { exclusive }) =>
					exclusive("task", {}, async () => {
						order.push("task");
						return {};
					}),
				),
		});
		const echo = echoFeature(async () => {
			await ask(bench.session);
			order.push("call");
		});
		const bench = openBench({ features: [feature, echo], steps: [call("one"), reply({ text: "done" })] });
		await bench.say("go");
		return { order, bench };
	}

	test.each(["kernel", "feature"] as const)("is refused to the %s, which the turn waits for", async (door) => {
		let refusal: unknown;
		const { order, bench } = await runTurnThatAsks(async (session) => {
			refusal = await session.call("task.run", {}, door).catch((error) => error);
		});
		expect(refusal).toMatchObject({ code: "refused" });
		expect(order).toEqual(["call"]);
		expect(await bench.session.call("task.run", {}, door)).toEqual({});
	});

	test("runs for a client after the turn, even when an event of the turn made it ask", async () => {
		let asked: Promise<unknown> | undefined;
		const { order } = await runTurnThatAsks(async (session) => {
			asked = session.call("task.run", {}, "client");
		});
		expect(await asked).toEqual({});
		expect(order).toEqual(["call", "task"]);
	});
});

test("a session that is disposed while it works ends its run, and later calls are told", async () => {
	const bench = openBench({ steps: [reply({ text: "x", silence: "before-headers" })] });
	const said = bench.say("go");
	await bench.model.waitForCalls(1);
	await bench.session.dispose();
	expect(await said).toMatchObject({ stage: "cancelled" });
	await expect(bench.say("more")).rejects.toMatchObject({ code: "cancelled" });
});

test("a reply that a feature drops stays in the log and is gone from what the model sees", async () => {
	let tries = 0;
	const retry = defineFeature({
		name: "retry",
		setup: (host) =>
			host.atBoundary("recover", ({ failed }) =>
				failed && tries++ === 0 ? { kind: "again", dropReply: true } : { kind: "pass" },
			),
	});
	const bench = openBench({ features: [retry], steps: [fail("503", { text: "half" }), reply({ text: "whole" })] });
	expect(await bench.say("go")).toMatchObject({ stage: "completed" });
	expect(bench.spoken()).toEqual(["user: go", "assistant: whole"]);
	expect(bench.log.length).toBe(3);
	const roles = bench.model.calls[1]!.context.messages.map((message) => message.role);
	expect(roles.filter((role) => role !== "system")).toEqual(["user"]);
});

test("what a feature writes when it drops a reply stands where the reply was", async () => {
	let tries = 0;
	const note = defineFeature({
		name: "note",
		setup: (host) =>
			host.atBoundary("recover", ({ failed }) => {
				if (!failed || tries++ > 0) return { kind: "pass" };
				const content = { type: "custom_message", customType: "note", content: "shorter", display: true };
				return { kind: "again", dropReply: true, first: () => void host.write(content) };
			}),
	});
	const bench = openBench({ features: [note], steps: [fail("too long"), reply({ text: "fits" })] });
	await bench.say("go");
	expect(bench.spoken()).toEqual(["user: go", "note: shorter", "assistant: fits"]);
});
