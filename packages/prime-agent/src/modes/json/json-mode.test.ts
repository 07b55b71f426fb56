import { Writable } from "node:stream";
import { expect, it } from "vitest";
import { connectInProcess } from "../../connection/in-process.ts";
import type { SessionActionSnapshot, SessionEvent } from "../../protocol/event.ts";
import { fakeSession, type PromptHandler, recordOutput, replyEvents } from "../testing/fake-session.ts";
import { runJson } from "./json-mode.ts";

const DONE = { actionId: 1, stage: "completed" };
const HEADER = {
	type: "session",
	version: 3,
	id: "01890000-0000-7000-8000-00000000aaaa",
	timestamp: "2026-01-01T00:00:00.000Z",
	cwd: "/home/user/project",
	rlmDepth: 0,
};

async function run(onPrompt: PromptHandler) {
	const output = recordOutput();
	const never = new AbortController().signal;
	const failure = await runJson(connectInProcess(fakeSession(onPrompt)), { text: "do it", images: [] }, output, never);
	expect(output.text.endsWith("\n")).toBe(true);
	const lines = output.text
		.trimEnd()
		.split("\n")
		.map((line) => JSON.parse(line) as Record<string, unknown>);
	return { failure, lines, size: output.text.length };
}

function telling(...events: SessionEvent[]): PromptHandler {
	return async (tell) => {
		for (const event of events) tell(event);
		return DONE;
	};
}

it("writes the header first and then each event, updates without the message so far", async () => {
	const { failure, lines } = await run(
		telling({ type: "agent_start" }, ...replyEvents("hi"), { type: "agent_end", messages: [] }),
	);
	expect(failure).toBeUndefined();
	expect(lines).toEqual([
		HEADER,
		{ type: "agent_start" },
		{ type: "message_start", message: { role: "assistant", content: [], stopReason: "stop" } },
		{ type: "message_update", assistantMessageEvent: { type: "text_start", contentIndex: 0 } },
		{ type: "message_update", assistantMessageEvent: { type: "text_delta", contentIndex: 0, delta: "h" } },
		{ type: "message_update", assistantMessageEvent: { type: "text_delta", contentIndex: 0, delta: "i" } },
		{ type: "message_update", assistantMessageEvent: { type: "text_end", contentIndex: 0, content: "hi" } },
		{
			type: "message_end",
			message: { role: "assistant", content: [{ type: "text", text: "hi" }], stopReason: "stop" },
		},
		{ type: "agent_end", messages: [] },
	]);
});

it("writes the events of features under their own names, and no entries", async () => {
	const entry = { type: "custom", id: "00000001", parentId: null, timestamp: "t" };
	const { lines } = await run(
		telling(
			{ type: "entry_appended", entry },
			{ type: "feature_event", name: "goal_update", data: { status: "active" } },
		),
	);
	expect(lines).toEqual([HEADER, { type: "goal_update", status: "active" }]);
});

it("tells of the queue only when texts wait behind the run", async () => {
	const update = (actions: Partial<SessionActionSnapshot>): SessionEvent => ({
		type: "session_action_update",
		actions: { queuedCount: 0, steering: [], followUps: [], ...actions },
	});
	const active = { kind: "turn", phase: "running" } as const;
	const waiting = { queuedCount: 1, steering: ["more"], active };
	const { lines } = await run(
		telling(
			update({ queuedCount: 1, steering: ["do it"] }),
			update({ active }),
			update(waiting),
			update(waiting),
			update({ active }),
		),
	);
	expect(lines.slice(1)).toEqual([update(waiting), update({ active })]);
});

it("grows with the length of the answer, not with its square", async () => {
	const deltas = (count: number) => Array.from({ length: count }, () => replyEvents("0123456789").slice(2, 3)).flat();
	const [small, large] = [await run(telling(...deltas(100))), await run(telling(...deltas(1_000)))];
	expect(large.size / small.size).toBeLessThan(10);
});

it("tells what a command says as a notice", async () => {
	const { lines } = await run(async () => ({ ...DONE, said: "Goal set." }));
	expect(lines).toEqual([HEADER, { type: "notice", level: "info", text: "Goal set." }]);
});

it("gives the same failure as text mode, after the last line", async () => {
	const events = replyEvents("", { stopReason: "error", errorMessage: "401 no" });
	const { failure, lines } = await run(telling(...events));
	expect(failure).toBe("401 no");
	expect(lines.at(-1)).toMatchObject({ type: "message_end", message: { errorMessage: "401 no" } });
});

it("is done only when a slow reader has taken the last line", async () => {
	const taken: string[] = [];
	const slow = new Writable({
		highWaterMark: 1,
		write(chunk: Buffer, _encoding, next) {
			setImmediate(() => {
				taken.push(chunk.toString("utf8"));
				next();
			});
		},
	});
	const session = fakeSession(telling(...replyEvents("hello")));
	await runJson(connectInProcess(session), { text: "x", images: [] }, slow, new AbortController().signal);
	expect(taken).toHaveLength(7);
	expect(taken.at(-1)).toMatch(/"message_end".*\n$/);
});

it("fails when the output cannot be written, but not when its reader has gone", async () => {
	const failing = (code: string) =>
		new Writable({ write: (_chunk, _encoding, done) => done(Object.assign(new Error(`${code}: no`), { code })) }).on(
			"error",
			() => undefined,
		);
	const failureOn = (code: string) => {
		const session = connectInProcess(fakeSession(telling()));
		return runJson(session, { text: "do it", images: [] }, failing(code), new AbortController().signal);
	};
	expect(await failureOn("ENOSPC")).toBe("The output cannot be written: ENOSPC: no.");
	expect(await failureOn("EPIPE")).toBeUndefined();
});
