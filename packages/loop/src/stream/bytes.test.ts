import type { FetchFunction } from "@earendil-works/pi-ai";
import { type ReplyOptions, reply, startChatServer } from "@prime-agent/testkit";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { mutateChunks } from "../testing/mutate.ts";
import { echoTool, testConfig, testContext, textOf, user } from "../testing/script.ts";
import { callGuarded, canaryKey, modelAt } from "../testing/server.ts";
import { runTurn } from "../turn.ts";
import { streamByApi } from "./apis.ts";
import { guardStream } from "./guard.ts";

// The library behind the adapter prints broken events to the console otherwise.
beforeAll(() => {
	vi.stubEnv("OPENAI_LOG", "off");
});
afterAll(() => {
	vi.unstubAllEnvs();
});

/** The frames that the mock server sends for a reply. */
async function captureFrames(options: ReplyOptions): Promise<Uint8Array[]> {
	await using server = await startChatServer();
	let frames: readonly Buffer[] = [];
	const mutate = (sent: readonly Buffer[]) => {
		frames = sent;
		return sent;
	};
	server.script(reply({ ...options, mutate }));
	await callGuarded(server.baseUrl);
	return frames.map((frame) => new Uint8Array(frame));
}

/** A server in this process: it answers with these chunks, and does after them what `end` says. */
function answerWith(chunks: readonly Uint8Array[], end: "close" | (() => void) = "close"): FetchFunction {
	return async (_input, init) => {
		const signal = init?.signal;
		let index = 0;
		const body = new ReadableStream<Uint8Array>({
			start(controller) {
				signal?.addEventListener("abort", () => controller.error(signal.reason));
			},
			pull(controller) {
				const chunk = chunks[index++];
				if (chunk) controller.enqueue(chunk);
				else if (end === "close") controller.close();
				else end();
			},
		});
		return new Response(body, { headers: { "content-type": "text/event-stream" } });
	};
}

function join(chunks: readonly Uint8Array[]): Uint8Array {
	return new Uint8Array(Buffer.concat(chunks));
}

async function runCut(fetch: FetchFunction, signal?: AbortSignal) {
	const tool = echoTool();
	const streamFn = guardStream({ streamFn: streamByApi });
	const config = testConfig({ model: modelAt("http://127.0.0.1:1/v1"), apiKey: canaryKey, fetch });
	const context = testContext([user("go")], [tool]);
	return { tool, turn: await runTurn(context, config, () => undefined, signal, streamFn) };
}

const command = "rm -rf /tmp/x/sub 你好";
const callReply: ReplyOptions = {
	text: "I clean up. 👋",
	calls: [{ id: "c1", name: "echo", arguments: { text: command } }],
};

/** `npm run soak` asks for more. */
const STREAMS = Number(process.env.SOAK_STREAMS ?? 100);

test("a call never runs from a reply that was cut at any byte before its finish reason (P07)", async () => {
	const whole = join(await captureFrames({ ...callReply, chunk: 40 }));
	const begin = Buffer.from(whole).indexOf('"tool_calls"');
	const finish = Buffer.from(whole).indexOf('"finish_reason":"tool_calls"');
	expect(begin).toBeGreaterThan(0);
	expect(finish).toBeGreaterThan(begin);
	// Every byte from the call to the finish reason, every ninth elsewhere.
	for (let at = 0; at <= whole.length; at += at < begin || (at > finish + 40 && at < whole.length - 9) ? 9 : 1) {
		const { tool, turn } = await runCut(answerWith([whole.slice(0, at)]));
		const ran = tool.runs.length > 0;
		if (ran) expect({ at, runs: tool.runs }).toEqual({ at, runs: [{ text: command }] });
		if (at < finish) expect({ at, ran, stop: turn.message.stopReason }).toEqual({ at, ran: false, stop: "error" });
		if (at === whole.length) expect(ran).toBe(true);
	}
});

test("a call never runs with arguments that the model cut at any character, though the reply ends properly (P07, P09)", async () => {
	await using server = await startChatServer();
	const whole = JSON.stringify({ text: command });
	const streamFn = guardStream({ streamFn: streamByApi });
	const config = testConfig({ model: modelAt(server.baseUrl), apiKey: canaryKey });
	for (let at = 0; at <= whole.length; at++) {
		const tool = echoTool();
		server.script(reply({ calls: [{ id: "c1", name: "echo", arguments: whole.slice(0, at) }], finish: "tools" }));
		const turn = await runTurn(testContext([user("go")], [tool]), config, () => undefined, undefined, streamFn);
		expect({ at, runs: tool.runs }).toEqual({ at, runs: at === whole.length ? [{ text: command }] : [] });
		expect(turn.toolResults).toHaveLength(1);
		if (at % 5 > 0) continue;
		server.script(reply({ text: "ok" }));
		const next = testContext([user("go"), turn.message, ...turn.toolResults, user("on")], [tool]);
		expect((await runTurn(next, config, () => undefined, undefined, streamFn)).message.stopReason).toBe("stop");
	}
	expect(server.rejections).toEqual([]);
});

test("an abort works at any byte and keeps a whole beginning of the text", async () => {
	const text = "hello wörld 你好 👋";
	const whole = join(await captureFrames({ text, chunk: 2 }));
	for (let at = 0; at < whole.length; at += 5) {
		const abort = new AbortController();
		const { turn } = await runCut(
			answerWith([whole.slice(0, at)], () => abort.abort()),
			abort.signal,
		);
		const { stopReason, errorMessage } = turn.message;
		if (stopReason !== "stop") {
			expect({ at, stopReason, errorMessage }).toEqual({
				at,
				stopReason: "aborted",
				errorMessage: "Request was aborted",
			});
		}
		expect(text.startsWith(textOf(turn.message))).toBe(true);
		expect(textOf(turn.message)).not.toContain("\uFFFD");
	}
});

test("damaged streams run no call that the server did not finish, and none twice", async () => {
	const frames = await captureFrames({ ...callReply, chunk: 5 });
	let intact = 0;
	for (let seed = 1; seed <= STREAMS; seed++) {
		const { chunks, damage } = mutateChunks(frames, seed);
		const { tool, turn } = await runCut(answerWith(chunks));
		const { stopReason } = turn.message;
		const what = { seed, damage, stopReason };
		expect({ ...what, runs: tool.runs.length <= 1 }).toEqual({ ...what, runs: true });
		if (stopReason === "error")
			expect({ ...what, runs: tool.runs, results: turn.toolResults }).toEqual({ ...what, runs: [], results: [] });
		else
			expect({ ...what, results: turn.toolResults.length }).toEqual({
				...what,
				results: turn.message.content.filter((block) => block.type === "toolCall").length,
			});
		if (damage.length > 0) continue;
		intact++;
		expect({ ...what, runs: tool.runs }).toEqual({ seed, damage, stopReason: "toolUse", runs: [{ text: command }] });
	}
	expect(intact).toBeGreaterThan(STREAMS / 10);
});
