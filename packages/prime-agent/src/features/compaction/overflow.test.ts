import { fail, reply } from "@prime-agent/testkit";
import { describe, expect, test } from "vitest";
import { compaction } from "./feature.ts";
import {
	asked,
	cell,
	cellFeature,
	entries,
	FULL,
	notes,
	notices,
	open,
	TOO_LONG,
	text,
	told,
} from "./testing/bench.ts";

describe("an overflow", () => {
	const history = [cell(), cell(), text("counted")];

	test("is answered by one compaction, and the request is sent again without the failed reply", async () => {
		const bench = open([...history, fail(TOO_LONG), notes(), text("here")]);
		await bench.say("count");
		expect(await bench.say("and now?")).toMatchObject({ stage: "completed" });
		expect(told(bench, "compaction_end")).toMatchObject([{ reason: "overflow", willRetry: true }]);
		expect(asked(bench, 5)).toEqual(["Summary of the conversation so far:\n\nNOTES", "counted", "and now?"]);
		expect(bench.spoken().slice(-2)).toEqual(["user: and now?", "assistant: here"]);
	});

	test("that stays ends the run instead of compacting again, and says what helps", async () => {
		const bench = open([...history, fail(TOO_LONG), notes(), fail(TOO_LONG), notes(), text("never")]);
		await bench.say("count");
		expect(await bench.say("and now?")).toMatchObject({ stage: "failed", error: TOO_LONG });
		expect(entries(bench)).toHaveLength(1);
		expect(notices(bench)).toEqual([expect.stringContaining("even after a compaction")]);
	});

	test("that stayed may be answered by another compaction when the user says something else", async () => {
		const bench = open([...history, fail(TOO_LONG), notes(), fail(TOO_LONG), fail(TOO_LONG), notes(), text("here")]);
		await bench.say("count");
		await bench.say("and now?");
		expect(await bench.say("shorter")).toMatchObject({ stage: "completed" });
		expect(entries(bench)).toHaveLength(2);
	});

	test("with compaction switched off stays one, and people are told what they can do", async () => {
		const bench = open([...history, fail(TOO_LONG)], { settings: { "compaction.enabled": false } });
		await bench.say("count");
		expect(await bench.say("and now?")).toMatchObject({ stage: "failed", error: TOO_LONG });
		expect(notices(bench)).toEqual([expect.stringContaining("Use /compact")]);
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

	test.each(["400 max_tokens is too large: 100000", "429 Rate limit reached: 30000 tokens per minute"])(
		"is not seen in %s",
		async (errorMessage) => {
			const bench = open([...history, fail(errorMessage), text("here")]);
			await bench.say("count");
			await bench.say("and now?");
			expect(entries(bench)).toEqual([]);
		},
	);

	test.each([
		["Anthropic", "400 prompt is too long: 213462 tokens > 200000 maximum"],
		["Anthropic, bytes", "413 request_too_large: Request exceeds the maximum size"],
		["OpenAI responses", "400 Your input exceeds the context window of this model."],
		["Azure", "400 Input tokens exceed the configured limit of 272000 tokens."],
		["Gemini", "400 The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."],
		["xAI", "400 This model's maximum prompt length is 131072 but the request contains 537812 tokens."],
		["Groq", "400 Please reduce the length of the messages or completion."],
		["OpenRouter", "400 This endpoint's maximum context length is 131072 tokens."],
		["Poolside", "400 Input length 150000 exceeds the maximum allowed input length of 131072 tokens."],
		["Together", "400 The input (150000 tokens) is longer than the model's context length (131072 tokens)."],
		["llama.cpp", "400 the request exceeds the available context size, try increasing it"],
		["LM Studio", "400 The number of tokens to keep from the initial prompt is greater than the context length."],
		["Ollama", "400 prompt too long; exceeded max context length by 12 tokens"],
		["vLLM", "400 The prompt (total length 40000) is too long to fit into the model (context length 32768)."],
		["TGI", "422 Input validation error: `inputs` must have less than 4096 tokens. Given: 5000"],
		["Kimi", "400 Your request exceeded model token limit: 262144 (requested: 300000)"],
		["Mistral", "400 Prompt contains 200000 tokens, too large for model with 131072 maximum context length"],
		["DashScope", "400 Range of input length should be [1, 129024]"],
		["z.ai", "400 Prompt too long"],
		["Bedrock", "400 Input is too long for requested model."],
		["MiniMax", "400 invalid params, context window exceeds limit (2013)"],
		["Cohere", "400 too many tokens: size limit exceeded by 1000 tokens."],
		["Copilot", "400 prompt token count of 140000 exceeds the limit of 128000"],
	])("in the words of %s leads to a summary and the answer", async (_server, errorMessage) => {
		const bench = open([...history, fail(errorMessage), notes(), text("here")]);
		await bench.say("count");
		expect(await bench.say("and now?")).toMatchObject({ stage: "completed" });
		expect(entries(bench)).toHaveLength(1);
	});

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

	test("is also a reply without a word whose request filled the window", async () => {
		const mute = reply({ finish: "length", usage: { input: 200_000, output: 0 } });
		const bench = open([...history, mute, notes(), text("here")]);
		await bench.say("count");
		expect(await bench.say("and now?")).toMatchObject({ stage: "completed" });
		expect(told(bench, "compaction_start")).toEqual([{ reason: "overflow" }]);
		expect(bench.spoken().slice(-2)).toEqual(["user: and now?", "assistant: here"]);
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
		const { messages } = (await bench.session.call("session.messages", {}, "client")) as {
			messages: { role: string }[];
		};
		expect(messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
		expect(bench.spoken().at(-1)).toBe("assistant: here");
	});
});
