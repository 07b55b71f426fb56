import { obj } from "@earendil-works/pi-schema";
import { fail, type ModelStep, reply } from "@prime-agent/testkit";
import { describe, expect, test } from "vitest";
import { abortRun } from "../../protocol/session-operations.ts";
import { type AnyFeature, defineFeature } from "../../session/host.ts";
import { SessionLog } from "../../session/log.ts";
import { createMemoryStore } from "../../session/storage.ts";
import { type Bench, type BenchOptions, HEADER, openBench } from "../../session/testing/harness.ts";
import { goal } from "../goal/feature.ts";
import { retry } from "../retry/feature.ts";
import { compaction } from "./feature.ts";

/** Stands for the kernel: a tool whose calls make the next request through the kernel's door, or print a text. */
function cellFeature(requests: readonly (readonly [string, object])[], output = "worked"): AnyFeature {
	const waiting = [...requests];
	return defineFeature({
		name: "cell",
		setup: (host) =>
			host.registerTool({
				name: "cell",
				label: "Cell",
				description: "Runs the next request",
				parameters: obj({}),
				async execute() {
					const next = waiting.shift();
					const answer = next ? JSON.stringify(await current.session.call(next[0], next[1], "kernel")) : output;
					return { content: [{ type: "text", text: answer }], details: {} };
				},
			}),
	});
}

let current: Bench;

function open(steps: readonly ModelStep[], options: BenchOptions = {}) {
	current = openBench({
		features: [cellFeature([]), compaction, retry],
		settings: { "compaction.keepRecentTokens": 20 },
		...options,
		steps,
	});
	return current;
}

const FULL = { input: 190_000, output: 100 };
const SMALL = { input: 900, output: 100 };
const TOO_LONG = "400 This model's maximum context length is 10 tokens. Please reduce the length of the messages.";

const cell = (usage = SMALL) => reply({ calls: [{ name: "cell", arguments: {} }], usage });
const text = (value: string, usage = SMALL) => reply({ text: value, usage });
const notes = (value = "NOTES") => reply({ text: value, usage: { input: 1_000, output: 50 } });

const told = (bench: Bench, name: string) =>
	bench.events.flatMap((event) => (event.type === "feature_event" && event.name === name ? [event.data] : []));
const notices = (bench: Bench) => bench.events.flatMap((event) => (event.type === "notice" ? [event.text] : []));
const entries = (bench: Bench) => bench.log.branch(new Set(["compaction"]));
const compact = (bench: Bench, params: object = {}) => bench.session.call("compact.run", params, "client");
const status = (bench: Bench) => bench.session.call("compact.status", {}, "client");

/** What a request says to the model, beside its system message. */
function asked(bench: Bench, call: number): string[] {
	const { messages } = bench.model.calls[call]!.context;
	return messages
		.filter((message) => message.role !== "system")
		.map(({ content }) =>
			typeof content === "string"
				? content
				: content.map((block) => ("text" in block ? block.text : block.type)).join(),
		);
}

test("a context above its threshold is compacted between two turns, and the run goes on to its end", async () => {
	const bench = open([cell(), cell(FULL), notes(), cell(), text("done")]);
	expect(await bench.say("count the files")).toMatchObject({ stage: "completed" });
	expect(bench.spoken().at(-1)).toBe("assistant: done");
	expect(asked(bench, 3)).toEqual([
		"Summary of the conversation so far:\n\nNOTES\n\nThe user's last request, word for word:\ncount the files",
		"toolCall",
		"worked",
	]);
	expect(bench.events.filter((event) => event.type === "agent_end")).toHaveLength(1);
});

test("clients hear why a compaction starts and with what it ended, cost included", async () => {
	const bench = open([cell(), cell(FULL), notes(), text("done")]);
	await bench.say("go");
	const [entry] = entries(bench);
	expect(told(bench, "compaction_start")).toEqual([{ reason: "threshold" }]);
	expect(told(bench, "compaction_end")).toMatchObject([
		{
			reason: "threshold",
			aborted: false,
			result: {
				summary: entry!.summary,
				firstKeptEntryId: entry!.firstKeptEntryId,
				tokensBefore: 190_102,
				details: { readFiles: [], modifiedFiles: [] },
			},
			usage: { input: 1_000, output: 50 },
		},
	]);
	expect(entry).toMatchObject({ tokensBefore: 190_102, usage: { input: 1_000, output: 50 } });
});

test("the summary is asked for without tools, without the agent's prompt and without a cache", async () => {
	const bench = open([cell(), cell(FULL), notes(), text("done")]);
	await bench.say("go");
	const { context, options } = bench.model.calls[2]!;
	expect(context.messages.map((message) => message.role)).toEqual(["system", "user"]);
	expect(JSON.stringify(context.messages[0])).not.toContain("toolsAdded");
	expect(options).toMatchObject({ cacheRetention: "none", maxTokens: 8_192 });
});

test("below the threshold nothing is compacted, also when images are large", async () => {
	const bench = open([text("nice")]);
	const images = [{ type: "image", data: "A".repeat(2_000_000), mimeType: "image/png" }];
	await bench.session.call("prompt.send", { text: "look", images, until: "done" }, "client");
	expect(bench.model.calls).toHaveLength(1);
});

test("with compaction switched off, a large context stays as it is", async () => {
	const bench = open([cell(), cell(FULL), text("done")], { settings: { "compaction.enabled": false } });
	await bench.say("go");
	expect(entries(bench)).toEqual([]);
});

test("high usage right after a compaction does not start another one, growth does", async () => {
	const more = { input: 195_000, output: 100 };
	const bench = open([
		cell(),
		cell(FULL),
		notes(),
		cell(FULL),
		cell(more),
		cell(SMALL),
		cell(FULL),
		notes(),
		text("done"),
	]);
	await bench.say("go");
	expect(entries(bench)).toHaveLength(2);
	expect(bench.model.remaining).toBe(0);
});

test("a summary that fails leaves the context as it was, is reported, and is not tried again at once", async () => {
	const refused = fail("400 invalid_request_error: no");
	const bench = open([cell(), cell(FULL), refused, cell(FULL), cell(FULL), cell(FULL), notes(), text("done")]);
	expect(await bench.say("go")).toMatchObject({ stage: "completed" });
	expect(told(bench, "compaction_end")).toMatchObject([
		{ severity: "warning", errorMessage: "400 invalid_request_error: no" },
		{ severity: "info" },
	]);
	expect(notices(bench)).toEqual(["The conversation could not be compacted: 400 invalid_request_error: no"]);
	expect(asked(bench, 3).slice(0, 3)).toEqual(["go", "toolCall", "worked"]);
	expect(bench.model.remaining).toBe(0);
});

test("a summary that fails for a moment is asked for again, and one that is too long with less", async () => {
	const bench = open([cell(), cell(FULL), fail("503 unavailable"), fail(TOO_LONG), notes(), text("done")]);
	await bench.say(`go ${"x".repeat(7_000)}`);
	expect(entries(bench)).toHaveLength(1);
	const lengths = [2, 3, 4].map((call) => asked(bench, call)[0]!.length);
	expect(lengths[1]).toBe(lengths[0]);
	expect(entries(bench)[0]).toMatchObject({ usage: { input: 1_020, output: 60 } });
});

describe("an overflow", () => {
	const history = [cell(), cell(), text("counted")];

	test("is answered by one compaction, and the request is sent again without the failed reply", async () => {
		const bench = open([...history, fail(TOO_LONG), notes(), text("here")]);
		await bench.say("count");
		expect(await bench.say("and now?")).toMatchObject({ stage: "completed" });
		expect(told(bench, "compaction_end")).toMatchObject([{ reason: "overflow", willRetry: true }]);
		expect(asked(bench, 5)).toEqual([expect.stringContaining("NOTES"), "counted", "and now?"]);
		expect(bench.spoken().slice(-2)).toEqual(["user: and now?", "assistant: here"]);
	});

	test("that stays ends the run instead of compacting again, and says what helps", async () => {
		const bench = open([...history, fail(TOO_LONG), notes(), fail(TOO_LONG), notes(), text("never")]);
		await bench.say("count");
		expect(await bench.say("and now?")).toMatchObject({ stage: "failed", error: TOO_LONG });
		expect(entries(bench)).toHaveLength(1);
		expect(notices(bench)).toEqual([expect.stringContaining("even after a compaction")]);
	});

	test("after a reply that came is answered anew", async () => {
		const steps = [...history, fail(TOO_LONG), notes("ONE"), text("here"), fail(TOO_LONG), notes("TWO"), text("there")];
		const bench = open(steps);
		for (const prompt of ["count", "second", "third"]) {
			expect(await bench.say(prompt)).toMatchObject({ stage: "completed" });
		}
		expect(entries(bench)).toHaveLength(2);
		expect(asked(bench, 7)[0]).toContain("<notes>\nONE");
	});

	test("of a single message cannot be answered and says so", async () => {
		const bench = open([fail(TOO_LONG), notes()]);
		expect(await bench.say("a very long prompt")).toMatchObject({ stage: "failed", error: TOO_LONG });
		expect(notices(bench)).toEqual([expect.stringContaining("newest message alone")]);
		expect(bench.model.calls).toHaveLength(1);
	});

	test("whose summary fails ends the run with the server's words, and the next overflow tries again", async () => {
		const bench = open([...history, fail(TOO_LONG), fail("400 no"), fail(TOO_LONG), notes(), text("here")]);
		await bench.say("count");
		expect(await bench.say("and now?")).toMatchObject({ stage: "failed", error: TOO_LONG });
		expect(entries(bench)).toEqual([]);
		expect(await bench.say("again")).toMatchObject({ stage: "completed" });
	});

	test.each([
		["400 the prompt bursts my buffers", { "compaction.overflowPatterns": ["BURSTS my"] }],
		["413 Payload Too Large", {}],
		["400 context_length_exceeded", {}],
	])("is recognised by %s", async (errorMessage, settings) => {
		const bench = open([...history, fail(errorMessage), notes(), text("here")], { settings });
		await bench.say("count");
		expect(await bench.say("and now?")).toMatchObject({ stage: "completed" });
		expect(entries(bench)).toHaveLength(1);
	});

	test.each(["429 Rate limit reached: 30000 tokens per minute", "400 max_tokens is too large"])(
		"is not seen in %s",
		async (errorMessage) => {
			const bench = open([...history, fail(errorMessage), text("here")]);
			await bench.say("count");
			await bench.say("and now?");
			expect(entries(bench)).toEqual([]);
		},
	);

	test("is also an unexplained 400 when the context fills 95 % of the window", async () => {
		const bench = open([
			cell(),
			cell(),
			text("counted", FULL),
			notes(),
			text("x", FULL),
			fail("400 bad request"),
			notes(),
			text("here"),
		]);
		await bench.say("count");
		await bench.say("more");
		expect(await bench.say("and now?")).toMatchObject({ stage: "completed" });
		expect(told(bench, "compaction_start")).toEqual([{ reason: "threshold" }, { reason: "overflow" }]);
	});

	test("reports expressions in the settings that are none, once", async () => {
		const bench = open([fail("400 no"), fail("400 no")], { settings: { "compaction.overflowPatterns": ["("] } });
		await bench.say("one");
		await bench.say("two");
		expect(notices(bench)).toEqual(["compaction.overflowPatterns: not a regular expression: ("]);
	});

	test("by results that are too large leaves none of them, and the model goes on from the summary", async () => {
		const features = [cellFeature([], "x".repeat(40_000)), compaction];
		const bench = open([cell(), fail(TOO_LONG), notes(), text("here")], { features });
		expect(await bench.say("print it")).toMatchObject({ stage: "completed" });
		expect(asked(bench, 3)).toEqual([expect.stringMatching(/NOTES[\s\S]*word for word:\nprint it/)]);
		expect(bench.spoken().at(-1)).toBe("assistant: here");
	});
});

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

test("after a compaction the model still has the system prompt, the user's last request and the goal word for word", async () => {
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
