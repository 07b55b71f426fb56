import { Writable } from "node:stream";
import { expect, it } from "vitest";
import { connectInProcess } from "../../connection/in-process.ts";
import type { SessionEvent } from "../../protocol/event.ts";
import { fakeSession, type PromptHandler, recordOutput, replyEvents } from "../testing/fake-session.ts";
import { type PrintOutput, runPrint } from "./print-mode.ts";

const DONE = { actionId: 1, stage: "completed" };

async function run(onPrompt: PromptHandler, options: Partial<PrintOutput> = {}, signal = new AbortController().signal) {
	const session = fakeSession(onPrompt);
	const output = recordOutput();
	const notes: string[] = [];
	const print = { output, isLive: false, isWatched: false, note: (line: string) => notes.push(line), ...options };
	const prompt = { text: "do it", images: [] };
	const failure = await runPrint(connectInProcess(session), prompt, print, signal);
	return { failure, stdout: output.text, notes, calls: session.calls };
}

/** Tells the events, then ends the run as completed. */
function telling(...events: SessionEvent[]): PromptHandler {
	return async (tell) => {
		for (const event of events) tell(event);
		return DONE;
	};
}

it("sends the prompt and its images once and waits for the end of the run", async () => {
	const session = fakeSession(telling(...replyEvents("yes")));
	const image = { type: "image" as const, data: "aGk=", mimeType: "image/png" };
	const print = { output: recordOutput(), isLive: false, isWatched: false, note: () => undefined };
	const prompt = { text: "do it", images: [image] };
	await runPrint(connectInProcess(session), prompt, print, new AbortController().signal);
	expect(session.calls).toEqual([["prompt.send", { text: "do it", images: [image], until: "done" }]]);
});

it("prints the last reply with one newline to a pipe, and nothing else", async () => {
	const tool = { type: "tool_execution_start", toolCallId: "1", toolName: "ipython", args: { code: "1" } } as const;
	const { failure, stdout, notes } = await run(telling(...replyEvents("first"), tool, ...replyEvents("second")));
	expect({ failure, stdout, notes }).toEqual({ failure: undefined, stdout: "second\n", notes: [] });
});

it("adds no newline to an answer that ends with one, and prints nothing for no answer", async () => {
	expect((await run(telling(...replyEvents("a\n")))).stdout).toBe("a\n");
	expect((await run(telling())).stdout).toBe("");
});

it("hands a pipe the answer as it is", async () => {
	expect((await run(telling(...replyEvents("\u001b[31mred")))).stdout).toBe("\u001b[31mred\n");
});

it("shows a terminal every reply as it comes, cleaned, each on its own line", async () => {
	const events = [...replyEvents("\u001b[31mfirst"), ...replyEvents("second\n")];
	expect((await run(telling(...events), { isLive: true })).stdout).toBe("first\nsecond\n");
});

it("ends the line before it says something beside the answer", async () => {
	const events = replyEvents("answer");
	const notice = { type: "notice", level: "warning", text: "slow" } as const;
	const { stdout, notes } = await run(telling(...events.slice(0, 3), notice, ...events.slice(3)), { isLive: true });
	expect(stdout).toBe("ans\nwer\n");
	expect(notes).toEqual(["Warning: slow"]);
});

it.each(["503 overloaded", "503 overloaded\n\nIs the server running?"])(
	"says why it waits when a request will be sent again, and not yet what to do (%j)",
	async (errorMessage) => {
		const data = { attempt: 1, maxAttempts: 3, delayMs: 2_500, errorMessage };
		const { notes } = await run(telling({ type: "feature_event", name: "auto_retry_start", data }));
		expect(notes).toEqual(["503 overloaded. Trying again in 2.5 s (1 of 3)."]);
	},
);

it.each([
	["manual", "The conversation is being summarized."],
	["threshold", "The conversation is long: it is being summarized."],
])("says why a run waits for a summary (%s)", async (reason, note) => {
	const { notes } = await run(telling({ type: "feature_event", name: "compaction_start", data: { reason } }));
	expect(notes).toEqual([note]);
});

it("tells a watching person what the tools do", async () => {
	const call = { toolCallId: "1", toolName: "ipython" };
	const result = { content: [{ type: "text" as const, text: "Traceback\nValueError: no\n" }], details: {} };
	const { notes } = await run(
		telling(
			{ type: "tool_execution_start", ...call, args: { code: "x = 1\ny = 2\n" } },
			{ type: "tool_execution_end", ...call, result, isError: true },
			{ type: "tool_execution_start", ...call, args: { other: 1 } },
			{ type: "tool_execution_end", ...call, result, isError: false },
		),
		{ isWatched: true },
	);
	expect(notes).toEqual([
		"[ipython] x = 1 … (1 more lines)",
		"[ipython] failed: ValueError: no",
		'[ipython] {"other":1}',
	]);
});

it("prints what a command says", async () => {
	const command = async () => ({ ...DONE, said: "Goal \u001b[31mset." });
	expect((await run(command)).stdout).toBe("Goal \u001b[31mset.\n");
	expect((await run(command, { isLive: true })).stdout).toBe("Goal set.\n");
});

it.each([
	[
		"the error of the last reply",
		replyEvents("par", { stopReason: "error", errorMessage: "500 broken" }),
		DONE,
		"500 broken",
	],
	[
		"a cut answer",
		replyEvents("par", { stopReason: "length" }),
		DONE,
		"The answer is cut: the model reached its limit of output tokens.",
	],
	["a failed action", [], { actionId: 1, stage: "failed", error: "The disk is full." }, "The disk is full."],
	["a cancelled action", [], { actionId: 1, stage: "cancelled" }, "The prompt was not worked on: it is cancelled."],
])("counts %s as a failure", async (_what, events, result, failure) => {
	const outcome = await run(async (tell) => {
		for (const event of events) tell(event);
		return result;
	});
	expect(outcome.failure).toBe(failure);
});

it("prints a cut answer, but nothing of a reply that failed", async () => {
	expect((await run(telling(...replyEvents("cut", { stopReason: "length" })))).stdout).toBe("cut\n");
	expect((await run(telling(...replyEvents("part", { stopReason: "error", errorMessage: "500" })))).stdout).toBe("");
});

it("does not count an error that a later reply has made good", async () => {
	const events = [...replyEvents("", { stopReason: "error", errorMessage: "429" }), ...replyEvents("good")];
	expect(await run(telling(...events))).toMatchObject({ failure: undefined, stdout: "good\n" });
});

it("fails with the reason when the session refuses the prompt", async () => {
	expect((await run(() => Promise.reject(new Error("No model is chosen.")))).failure).toBe("No model is chosen.");
});

it("stops the run when it is told to stop, and says why", async () => {
	const controller = new AbortController();
	const outcome = await run(
		async (tell, aborted) => {
			for (const event of replyEvents("half").slice(0, 3)) tell(event);
			controller.abort(new Error("Stopped by SIGTERM."));
			await aborted;
			return DONE;
		},
		{},
		controller.signal,
	);
	expect(outcome.failure).toBe("Stopped by SIGTERM.");
	expect(outcome.calls.map(([name]) => name)).toEqual(["prompt.send", "run.abort"]);
});

it("sends nothing when it was told to stop before", async () => {
	const outcome = await run(telling(), {}, AbortSignal.abort(new Error("Stopped by SIGINT.")));
	expect(outcome).toMatchObject({ failure: "Stopped by SIGINT.", calls: [] });
});

it("fails when the output cannot be written, but not when its reader has gone", async () => {
	const failing = (code: string) =>
		new Writable({ write: (_chunk, _encoding, done) => done(Object.assign(new Error(`${code}: no`), { code })) }).on(
			"error",
			() => undefined,
		);
	const failureOn = (code: string) =>
		run(telling(...replyEvents("lost")), { output: failing(code) }).then(({ failure }) => failure);
	expect(await failureOn("ENOSPC")).toBe("The output cannot be written: ENOSPC: no.");
	expect(await failureOn("EPIPE")).toBeUndefined();
});
