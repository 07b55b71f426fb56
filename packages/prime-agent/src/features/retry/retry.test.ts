import { obj } from "@earendil-works/pi-schema";
import { fail, type ModelStep, reply } from "@prime-agent/testkit";
import { describe, expect, test } from "vitest";
import { abortRun } from "../../protocol/session-operations.ts";
import { type AnyFeature, defineFeature } from "../../session/host.ts";
import { AUTH, type AuthPort, type AuthSourceToken, type ClockPort } from "../../session/ports.ts";
import { type BenchOptions, openBench } from "../../session/testing/harness.ts";
import { goal } from "../goal/feature.ts";
import { retry } from "./feature.ts";

/** A clock whose waits are over at once and are written down. */
function fastClock(): ClockPort & { readonly waits: number[] } {
	const waits: number[] = [];
	return {
		waits,
		now: () => 0,
		sleep: async (ms) => {
			waits.push(ms);
		},
	};
}

/** A tool that counts how often it ran. */
function countingTool(): { readonly feature: AnyFeature; readonly ran: () => number } {
	let ran = 0;
	const feature = defineFeature({
		name: "cell",
		setup: (host) =>
			host.registerTool({
				name: "cell",
				label: "Cell",
				description: "Counts",
				parameters: obj({}),
				execute: async () => ({ content: [{ type: "text", text: String(++ran) }], details: {} }),
			}),
	});
	return { feature, ran: () => ran };
}

function open(steps: readonly ModelStep[], options: BenchOptions = {}) {
	const clock = fastClock();
	const bench = openBench({ features: [retry], clock, ...options, steps });
	const told = (name: string) =>
		bench.events.flatMap((event) => (event.type === "feature_event" && event.name === name ? [event.data] : []));
	const notices = () => bench.events.flatMap((event) => (event.type === "notice" ? [event.text] : []));
	return { bench, waits: clock.waits, told, notices };
}

const cell = reply({ calls: [{ id: "c", name: "cell", arguments: {} }] });
const done = reply({ text: "done" });

/** Attaches to the first failed reply what a guarded stream knows about it. */
function guarding(details: Readonly<Record<string, unknown>>): AnyFeature {
	const waiting = [details];
	return defineFeature({
		name: "guard",
		setup: (host) =>
			host.atBoundary("recover", ({ message, failed }) => {
				const known = failed ? waiting.shift() : undefined;
				if (known) Object.assign(message, { diagnostics: [{ type: "provider_stream_failure", details: known }] });
				return { kind: "pass" };
			}),
	});
}

/** A session whose first request is refused with a wait. */
function openLimited(retryAfterMs: number, settings: BenchOptions["settings"] = {}) {
	const limited = guarding({ kind: "rate_limit", status: 429, retryAfterMs, permanent: false });
	return open([fail("it failed"), done], { features: [limited, retry], settings });
}

test("a passing failure is asked again after waits that double, and the counter starts anew after a reply", async () => {
	const tool = countingTool();
	const { bench, waits, told } = open(
		[fail("503 unavailable"), fail("Network connection lost."), cell, fail("529 overloaded"), done],
		{ features: [tool.feature, retry] },
	);
	expect(await bench.say("go")).toMatchObject({ stage: "completed" });
	expect(waits).toEqual([2_000, 4_000, 2_000]);
	expect(told("auto_retry_start")).toEqual([
		{ attempt: 1, maxAttempts: 3, delayMs: 2_000, errorMessage: "503 unavailable" },
		{ attempt: 2, maxAttempts: 3, delayMs: 4_000, errorMessage: "Network connection lost." },
		{ attempt: 1, maxAttempts: 3, delayMs: 2_000, errorMessage: "529 overloaded" },
	]);
	expect(told("auto_retry_end")).toEqual([
		{ success: true, attempt: 2 },
		{ success: true, attempt: 1 },
	]);
});

test("after the last attempt the run fails with the server's words and says so once", async () => {
	const steps = Array.from({ length: 9 }, () => fail("500 boom"));
	const { bench, told } = open(steps);
	expect(await bench.say("go")).toMatchObject({ stage: "failed", error: "500 boom" });
	expect(bench.model.calls).toHaveLength(4);
	expect(told("auto_retry_end")).toEqual([{ success: false, attempt: 3, finalError: "500 boom" }]);
});

test("settings change the number of attempts and the waits", async () => {
	const steps = Array.from({ length: 9 }, () => fail("500 boom"));
	const { bench, waits } = open(steps, { settings: { "retry.maxRetries": 2, "retry.baseDelayMs": 10 } });
	await bench.say("go");
	expect(waits).toEqual([10, 20]);
});

test("with retries switched off, one request is sent and no retry is announced", async () => {
	const { bench, told } = open([fail("503 unavailable"), done], { settings: { "retry.enabled": false } });
	expect(await bench.say("go")).toMatchObject({ stage: "failed" });
	expect({ calls: bench.model.calls.length, told: told("auto_retry_start") }).toEqual({ calls: 1, told: [] });
});

test.each([
	["402 Payment Required: your credit balance is too low"],
	["400 your credit balance is too low to use this model"],
	["403 insufficient_quota: you exceeded your current quota, please check your plan and billing details"],
	["400 invalid_request_error: unknown field"],
	["The model refused to answer."],
	["400 This model's maximum context length is 10 tokens. Please reduce the length of the messages."],
	["No more faux responses queued"],
])("a failure that stays one is not asked again: %s", async (errorMessage) => {
	const { bench, waits } = open([fail(errorMessage), done]);
	expect(await bench.say("go")).toMatchObject({ stage: "failed" });
	expect({ waits, calls: bench.model.calls.length }).toEqual({ waits: [], calls: 1 });
});

test("a wording that the user calls an overflow is left to compaction, whatever its status", async () => {
	const { bench } = open([fail("500 the prompt bursts my buffers"), done], {
		settings: { "compaction.overflowPatterns": ["bursts my buffers"] },
	});
	await bench.say("go");
	expect(bench.model.calls).toHaveLength(1);
});

test("a permanent failure during retries ends them at once", async () => {
	const { bench, told } = open([fail("503 unavailable"), fail("400 invalid_request_error"), done]);
	await bench.say("go");
	expect(bench.model.calls).toHaveLength(2);
	expect(told("auto_retry_end")).toEqual([{ success: false, attempt: 1, finalError: "400 invalid_request_error" }]);
});

test("the wait that a server asks for counts instead of the doubling one", async () => {
	const { bench, waits } = openLimited(7_500);
	expect(await bench.say("go")).toMatchObject({ stage: "completed" });
	expect(waits).toEqual([7_500]);
});

test("a server that asks for more patience than allowed is not asked again, and people are told why", async () => {
	const { bench, waits, notices } = openLimited(999_999_000);
	expect(await bench.say("go")).toMatchObject({ stage: "failed" });
	expect(waits).toEqual([]);
	expect(notices()).toEqual([expect.stringContaining("asks to wait 999999 s")]);
});

test("the cap of 0 allows any wait that a server asks for", async () => {
	const { bench, waits } = openLimited(600_000, { "retry.provider.maxRetryDelayMs": 0 });
	await bench.say("go");
	expect(waits).toEqual([600_000]);
});

test("aborting during the wait ends the run at once and nothing is sent any more", async () => {
	const { promise: waiting, resolve: wait } = Promise.withResolvers<void>();
	const clock: ClockPort = {
		now: () => 0,
		sleep: (_ms, signal) =>
			new Promise((_, reject) => {
				signal?.addEventListener("abort", () => reject(signal.reason), { once: true });
				wait();
			}),
	};
	const { bench, told } = open([fail("503 unavailable"), done], { clock });
	const said = bench.say("go");
	await waiting;
	await bench.session.call(abortRun.name, {}, "client");
	expect(await said).toMatchObject({ stage: "cancelled" });
	expect(told("auto_retry_end")).toEqual([{ success: false, attempt: 1, finalError: "Retry cancelled" }]);
	expect(bench.model.calls).toHaveLength(1);
});

test("aborting a retried request counts as a cancelled retry", async () => {
	const { bench, told } = open([fail("503 unavailable"), reply({ text: "x", silence: "before-headers" })]);
	const said = bench.say("go");
	await bench.model.waitForCalls(2);
	await bench.session.call(abortRun.name, {}, "client");
	expect(await said).toMatchObject({ stage: "cancelled" });
	expect(told("auto_retry_end")).toEqual([{ success: false, attempt: 1, finalError: "Retry cancelled" }]);
});

test("a retried reply is a message of its own, and what had been shown before stays with the failed one", async () => {
	const { bench } = open([fail("503 unavailable", { text: "Half an answ" }), reply({ text: "A whole answer" })]);
	await bench.say("go");
	const replies: string[] = [];
	for (const event of bench.events) {
		if (event.type === "message_start" && event.message.role === "assistant") replies.push("");
		if (event.type === "message_update" && event.assistantMessageEvent.type === "text_delta") {
			replies[replies.length - 1] += event.assistantMessageEvent.delta;
		}
		if (event.type === "message_end" && event.message.role === "assistant") {
			replies[replies.length - 1] += ` (${event.message.stopReason})`;
		}
	}
	expect(replies).toEqual(["Half an answ (error)", "A whole answer (stop)"]);
	expect(bench.spoken()).toEqual(["user: go", "assistant: A whole answer"]);
	expect(JSON.stringify(bench.model.calls[1]!.context)).not.toContain("Half");
});

test("a call of a reply that broke off never runs, and the same call of the retried reply runs once", async () => {
	const tool = countingTool();
	const broken = fail("stream ended", { calls: [{ id: "c", name: "cell", arguments: {} }] });
	const { bench } = open([broken, cell, done], { features: [tool.feature, retry] });
	expect(await bench.say("go")).toMatchObject({ stage: "completed" });
	expect(tool.ran()).toBe(1);
});

test("a retry after cells that have run asks only for the next reply", async () => {
	const tool = countingTool();
	const { bench } = open([cell, fail("503 unavailable"), done], { features: [tool.feature, retry] });
	await bench.say("go");
	expect(tool.ran()).toBe(1);
	expect(bench.spoken()).toEqual(["user: go", "assistant: cell", "toolResult: 1", "assistant: done"]);
});

test("a server that fails for ever does not keep a goal asking", async () => {
	const steps = Array.from({ length: 40 }, () => fail("500 boom"));
	const { bench } = open(steps, { features: [retry, goal] });
	await bench.say("/goal Ship it");
	expect(bench.model.calls).toHaveLength(4);
});

describe("refused credentials", () => {
	const token = (value: string): AuthSourceToken => ({
		source: "environment",
		identityFingerprint: "i",
		valueFingerprint: value,
	});

	/** Credentials of one provider; `keys` are the ones in use at each failure. */
	function keyring(...keys: string[]) {
		const marked: string[] = [];
		const port: AuthPort = {
			current: async () => token(keys.length > 1 ? keys.shift()! : keys[0]!),
			markStale: async (_provider, tokens) => void marked.push(...tokens.map((one) => one.valueFingerprint)),
		};
		return { marked, ports: [[AUTH, port]] as const };
	}

	const refused = fail("401 Unauthorized: invalid api key");

	test("are tried once more, then taken out of use, with one line of guidance", async () => {
		const { marked, ports } = keyring("a");
		const { bench, told, notices } = open([refused, refused, done], { ports });
		expect(await bench.say("go")).toMatchObject({ stage: "failed" });
		expect(bench.model.calls).toHaveLength(2);
		expect(marked).toEqual(["a"]);
		expect(told("auth_stale")).toEqual([{ provider: "scripted", sourceTokens: [token("a")] }]);
		expect(told("auto_retry_end")).toMatchObject([{ success: false, attempt: 1 }]);
		expect(notices()).toEqual([expect.stringMatching(/^Run \/login to update credentials\. /)]);
	});

	test("that work the second time stay in use", async () => {
		const { marked, ports } = keyring("a");
		const { bench, told } = open([refused, done], { ports });
		expect(await bench.say("go")).toMatchObject({ stage: "completed" });
		expect({ marked, told: told("auth_stale") }).toEqual({ marked: [], told: [] });
	});

	test("that worked in between are tried once more the next time, too", async () => {
		const tool = countingTool();
		const { marked, ports } = keyring("a");
		const { bench } = open([refused, cell, refused, done], { ports, features: [tool.feature, retry] });
		expect(await bench.say("go")).toMatchObject({ stage: "completed" });
		expect(marked).toEqual([]);
	});

	test("are taken out of use at once without retries", async () => {
		const { marked, ports } = keyring("a");
		const { bench, told } = open([refused, done], { ports, settings: { "retry.enabled": false } });
		await bench.say("go");
		expect({ marked, calls: bench.model.calls.length }).toEqual({ marked: ["a"], calls: 1 });
		expect(told("auto_retry_start")).toEqual([]);
	});

	test("are all taken out of use when they changed between two failures", async () => {
		const { marked, ports } = keyring("a", "b");
		const { bench } = open([refused, refused], { ports });
		await bench.say("go");
		expect(marked).toEqual(["a", "b"]);
	});

	test("go out of use also when the last failure is another one", async () => {
		const { marked, ports } = keyring("a");
		const { bench, notices } = open([refused, fail("500 boom"), fail("500 boom"), fail("500 boom")], { ports });
		expect(await bench.say("go")).toMatchObject({ stage: "failed", error: "500 boom" });
		expect(marked).toEqual(["a"]);
		expect(notices()).toEqual([expect.stringMatching(/^Run \/login to update credentials\. /)]);
	});

	test("that nobody gave are not marked", async () => {
		const marked: unknown[] = [];
		const port: AuthPort = { current: async () => undefined, markStale: async (...mark) => void marked.push(mark) };
		const { bench, told } = open([refused, refused], { ports: [[AUTH, port]] });
		await bench.say("go");
		expect({ marked, told: told("auth_stale") }).toEqual({ marked: [], told: [] });
	});

	test("bring no second guidance where the error gives it", async () => {
		const { ports } = keyring("a");
		const hinted = fail("401 Unauthorized\n\nRun /login to update credentials.");
		const { bench, notices } = open([hinted, hinted], { ports });
		await bench.say("go");
		expect(notices()).toEqual([]);
	});

	test("are not marked where nobody keeps credentials, and a missing key is no refused one", async () => {
		const { bench, told } = open([refused, refused]);
		expect(await bench.say("go")).toMatchObject({ stage: "failed" });
		expect(told("auth_stale")).toEqual([]);
		const { marked, ports } = keyring("a");
		const keyless = open([fail("No API key found for acme."), done], { ports });
		await keyless.bench.say("go");
		expect({ marked, calls: keyless.bench.model.calls.length }).toEqual({ marked: [], calls: 1 });
	});
});
