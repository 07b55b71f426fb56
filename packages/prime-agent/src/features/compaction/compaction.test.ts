import { fail, reply } from "@prime-agent/testkit";
import { describe, expect, test } from "vitest";
import { abortRun } from "../../protocol/session-operations.ts";
import { defineFeature } from "../../session/host.ts";
import { SessionLog } from "../../session/log.ts";
import { createMemoryStore } from "../../session/storage/memory.ts";
import { type Bench, HEADER } from "../../session/testing/harness.ts";
import { goal } from "../goal/feature.ts";
import { compaction } from "./feature.ts";
import { asked, cell, cellFeature, entries, FULL, notes, open, SMALL, text, told } from "./testing/bench.ts";

const compact = (bench: Bench, params: object = {}) => bench.session.call("compact.run", params, "client");
const status = (bench: Bench) => bench.session.call("compact.status", {}, "client");

describe("asked for by a person", () => {
	test("compacts at once, with what they want kept, and says how large the context was", async () => {
		const bench = open([cell(), text("counted"), notes()]);
		await bench.say("count");
		const said = await bench.session.call("prompt.send", { text: "/compact keep the names" }, "client");
		expect(said).toMatchObject({ said: "Compacted: 1000 tokens of context before." });
		expect(asked(bench, 2)[0]).toContain("keep the names");
		expect(entries(bench)).toMatchObject([{ customInstructions: "keep the names" }]);
		expect(told(bench, "compaction_start")).toEqual([{ reason: "manual" }]);
	});

	test("stops the running turn first", async () => {
		const bench = open([
			cell(),
			text("counted"),
			reply({ text: "a long story", silence: { afterEvents: 2 } }),
			notes(),
		]);
		await bench.say("count");
		const said = bench.say("tell");
		await bench.model.waitForCalls(3);
		expect(await compact(bench)).toMatchObject({ scheduled: false, tokensBefore: expect.any(Number) });
		expect(await said).toMatchObject({ stage: "cancelled" });
	});

	test("is refused when there is nothing to summarise", async () => {
		const bench = open([text("hi")]);
		await expect(compact(bench)).rejects.toMatchObject({
			code: "refused",
			message: "There is nothing to compact yet.",
		});
		expect(told(bench, "compaction_start")).toEqual([]);
	});

	test("can be stopped while the summary is written, and nothing has changed", async () => {
		const bench = open([cell(), text("counted"), reply({ text: "x", silence: "before-headers" })]);
		await bench.say("count");
		const before = bench.log.length;
		const compacting = compact(bench);
		await bench.model.waitForCalls(3);
		await bench.session.call(abortRun.name, {}, "client");
		await expect(compacting).rejects.toMatchObject({ code: "cancelled" });
		expect(bench.log.length).toBe(before);
		expect(told(bench, "compaction_end")).toMatchObject([{ reason: "manual", aborted: true }]);
	});

	test("can be refused and have its instructions changed by a gate", async () => {
		const gate = defineFeature({
			name: "gate",
			setup: (host) =>
				host.before("compact", ({ instructions }) =>
					instructions === "no" ? { refuse: "Not now." } : { change: { instructions: "be short" } },
				),
		});
		const bench = open([cell(), text("counted"), notes()], { features: [cellFeature([]), compaction, gate] });
		await bench.say("count");
		await expect(compact(bench, { instructions: "no" })).rejects.toThrow("Not now.");
		await compact(bench);
		expect(entries(bench)).toMatchObject([{ customInstructions: "be short" }]);
	});
});

describe("asked for by a cell", () => {
	test("happens when the turn ends, once, with the newest instructions", async () => {
		const requests = [
			["compact.run", { instructions: "keep names" }],
			["compact.run", {}],
			["compact.status", {}],
		] as const;
		const calls = reply({ calls: requests.map((_, n) => ({ id: `c${n}`, name: "cell", arguments: {} })) });
		const bench = open([text("hello"), calls, notes(), text("done")], {
			features: [cellFeature(requests), compaction],
		});
		await bench.say("hi");
		await bench.say("compact yourself");
		const results = asked(bench, 3).slice(-3);
		expect(results[0]).toBe('{"scheduled":true}');
		expect(JSON.parse(results[2]!)).toMatchObject({ scheduled: true, context_window: 200_000 });
		expect(told(bench, "compaction_start")).toEqual([{ reason: "requested" }]);
		expect(entries(bench)).toMatchObject([{ customInstructions: "keep names" }]);
		expect(bench.spoken().at(-1)).toBe("assistant: done");
		expect(await status(bench)).toMatchObject({ scheduled: false });
	});

	test("says why not when there is nothing to summarise or the settings do not allow it", async () => {
		const bench = open([]);
		const ask = () => bench.session.call("compact.run", { instructions: null }, "kernel");
		expect(await ask()).toEqual({ scheduled: false, reason: "There is nothing to compact yet." });
		const strict = open([], { settings: { "compaction.agentCallable": false } });
		expect(await strict.session.call("compact.run", {}, "kernel")).toMatchObject({ scheduled: false });
	});

	test("is given up when the summary fails, instead of failing at every turn", async () => {
		const features = [cellFeature([["compact.run", {}]]), compaction];
		const bench = open([text("hello"), cell(), fail("400 no"), cell(), text("done")], { features });
		await bench.say("hi");
		await bench.say("go");
		expect(bench.model.remaining).toBe(0);
		expect(told(bench, "compaction_start")).toHaveLength(1);
		expect(await status(bench)).toMatchObject({ scheduled: false });
	});

	test("waits while turns fail", async () => {
		const bench = open([text("hello"), text("there"), fail("400 no"), text("here"), notes()]);
		await bench.say("hi");
		await bench.say("you");
		await bench.session.call("compact.run", {}, "kernel");
		await bench.say("go");
		expect(told(bench, "compaction_start")).toEqual([]);
		await bench.say("again");
		expect(entries(bench)).toHaveLength(1);
	});

	test("survives closing and opening the session", async () => {
		const store = createMemoryStore();
		const bench = open([text("hello"), text("there")], { log: SessionLog.create(HEADER, store) });
		await bench.say("hi");
		await bench.say("you");
		await bench.session.call("compact.run", {}, "kernel");
		const log = SessionLog.open({ store, tornBytes: 0 }, HEADER);
		const reopened = open([text("back"), notes()], { log });
		expect(await status(reopened)).toMatchObject({ scheduled: true });
		await reopened.say("go on");
		expect(entries(reopened)).toHaveLength(1);
	});
});

test("the status counts what the provider counted, and gives no percentage until a reply after a compaction", async () => {
	const bench = open([
		text("hello", { input: 49_000, output: 1_000 }),
		text("there", FULL),
		notes(),
		text("done", SMALL),
	]);
	await bench.say("hi");
	expect(await status(bench)).toEqual({ tokens: 50_000, context_window: 200_000, percent: 25, scheduled: false });
	await bench.say("you");
	expect(await status(bench)).toMatchObject({ percent: null, tokens: expect.any(Number) });
	await bench.say("go");
	expect(await status(bench)).toMatchObject({ tokens: 1_000, percent: 0.5 });
});

test("after a compaction the model still has the system prompt, the user's last request and the goal word for word (C09)", async () => {
	const rules = defineFeature({ name: "rules", setup: (host) => host.registerPromptPart("rules", () => "RULES") });
	const features = [rules, cellFeature([]), compaction, goal];
	const bench = open([text("ok"), cell(), cell(FULL), notes(), text("a"), text("b"), text("c")], { features });
	await bench.say("please keep the API as it is");
	await bench.say("/goal Port all 17 modules");
	const { messages } = bench.model.calls[4]!.context;
	expect(JSON.stringify(messages[0])).toContain("RULES");
	expect(messages[0]).toEqual(bench.model.calls[0]!.context.messages[0]);
	expect(asked(bench, 4)[0]).toBe(
		"Summary of the conversation so far:\n\nNOTES\n\nThe user's last request, word for word:\nplease keep the API as it is\n\nThe goal of the session, word for word:\nPort all 17 modules",
	);
});

test("the user's request outlives several compactions in a row", async () => {
	const grow = [cell(), cell(), cell(FULL), notes()];
	const bench = open([...grow, ...grow, ...grow, text("done")]);
	await bench.say("rename foo to bar");
	expect(entries(bench)).toHaveLength(3);
	expect(entries(bench).every((entry) => String(entry.summary).endsWith("word for word:\nrename foo to bar"))).toBe(
		true,
	);
});

test("the files that were read and changed are known after several compactions", async () => {
	const run = (code: string) => reply({ calls: [{ name: "cell", arguments: { code } }] });
	const bench = open([
		run("open('a.txt').read()"),
		run("open('b.txt', 'w').write('b')"),
		text("one"),
		notes(),
		run("open('b.txt').read()"),
		run("open('c.txt').read()"),
		text("two"),
		notes(),
	]);
	await bench.say("first");
	await compact(bench);
	await bench.say("second");
	await compact(bench);
	expect(entries(bench).map((entry) => entry.details)).toEqual([
		{ readFiles: ["a.txt"], modifiedFiles: ["b.txt"] },
		{ readFiles: ["a.txt", "c.txt"], modifiedFiles: ["b.txt"] },
	]);
	expect(entries(bench)[1]!.summary).toContain("Files read: a.txt, c.txt\n\nFiles changed: b.txt");
});
