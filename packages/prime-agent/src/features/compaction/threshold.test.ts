import { fail, reply } from "@prime-agent/testkit";
import { expect, test } from "vitest";
import { abortRun } from "../../protocol/session-operations.ts";
import { asked, cell, entries, FULL, notes, notices, open, SMALL, TOO_LONG, text, told } from "./testing/bench.ts";

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

test("below the threshold nothing is compacted, also when images are large (C07)", async () => {
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

test("high usage right after a compaction does not start another one, growth does (C03)", async () => {
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

test("pauses after failures are short again once a summary has succeeded", async () => {
	const no = fail("400 no");
	const pause = [cell(FULL), cell(FULL), cell(FULL)];
	const bench = open([
		cell(),
		cell(FULL),
		no,
		...pause,
		notes(),
		cell(),
		cell(FULL),
		no,
		...pause,
		notes(),
		text("done"),
	]);
	await bench.say("go");
	expect(entries(bench)).toHaveLength(2);
	expect(bench.model.remaining).toBe(0);
});

test("a summary without a word is a failed one", async () => {
	const bench = open([cell(), cell(FULL), notes(""), text("done")]);
	await bench.say("go");
	expect(entries(bench)).toEqual([]);
	expect(notices(bench)).toEqual(["The conversation could not be compacted: The model gave no summary."]);
});

test("with retries switched off a summary is asked for once", async () => {
	const settings = { "compaction.keepRecentTokens": 20, "retry.enabled": false };
	const bench = open([cell(), cell(FULL), fail("503 unavailable"), text("done")], { settings });
	await bench.say("go");
	expect(notices(bench)).toEqual(["The conversation could not be compacted: 503 unavailable"]);
});

test("stopping the run while a summary is written ends the run and leaves the context as it was", async () => {
	const bench = open([cell(), cell(FULL), reply({ text: "x", silence: "before-headers" }), text("back")]);
	const said = bench.say("go");
	await bench.model.waitForCalls(3);
	await bench.session.call(abortRun.name, {}, "client");
	expect(await said).toMatchObject({ stage: "cancelled" });
	expect(told(bench, "compaction_end")).toMatchObject([{ reason: "threshold", aborted: true }]);
	expect(notices(bench)).toEqual([]);
	await bench.say("go on");
	expect(asked(bench, 3).slice(0, 2)).toEqual(["go", "toolCall"]);
});

test("a summary that fails for a moment is asked for again, and one that is too long with less", async () => {
	const bench = open([cell(), cell(FULL), fail("503 unavailable"), fail(TOO_LONG), notes(), text("done")]);
	Object.assign(bench.model.model, { contextWindow: 8_000 });
	await bench.say(`go ${"x".repeat(7_000)}`);
	expect(entries(bench)).toHaveLength(1);
	const [first, again, shorter] = [2, 3, 4].map((call) => asked(bench, call)[0]!.length);
	expect(again).toBe(first);
	expect(shorter).toBeLessThan(again! - 1_000);
	expect(entries(bench)[0]).toMatchObject({ usage: { input: 1_020, output: 60 } });
});
