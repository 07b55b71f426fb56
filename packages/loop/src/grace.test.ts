import { expect, test } from "vitest";
import { abandoned, settleOrAbandon, startPatience } from "./grace.ts";
import { handClock } from "./testing/clock.ts";

function start<T>(work: Promise<T>, signal?: AbortSignal) {
	const clock = handClock();
	return { clock, outcome: settleOrAbandon(work, signal, { clock, ms: 100 }) };
}

test("work that is not aborted may take any time", async () => {
	const work = Promise.withResolvers<string>();
	const { clock, outcome } = start(work.promise, new AbortController().signal);
	clock.advance(1e9);
	work.resolve("done");
	expect(await outcome).toBe("done");
	expect(clock.waiting()).toBe(0);
});

test("aborted work that settles in time keeps its outcome", async () => {
	const abort = new AbortController();
	const work = Promise.withResolvers<string>();
	const { clock, outcome } = start(work.promise, abort.signal);
	abort.abort();
	clock.advance(99);
	work.reject(new Error("stopped"));
	await expect(outcome).rejects.toThrow("stopped");
	expect(clock.waiting()).toBe(0);
});

test.each([
	["before", true],
	["during", false],
])(
	"work that was aborted %s it began is abandoned after the grace period, and its late failure is nobody's",
	async (_when, early) => {
		const abort = new AbortController();
		if (early) abort.abort();
		const work = Promise.withResolvers<string>();
		const { clock, outcome } = start(work.promise, abort.signal);
		abort.abort();
		clock.advance(100);
		expect(await outcome).toBe(abandoned);
		work.reject(new Error("late"));
		await new Promise((resolve) => setImmediate(resolve));
	},
);

test("pieces of work after an abort share one grace period, and one that comes after it is abandoned at once", async () => {
	const clock = handClock();
	const abort = new AbortController();
	const patience = startPatience(abort.signal, { clock, ms: 100 });
	abort.abort();
	clock.advance(60);
	expect(await patience.settle(Promise.resolve("in time"))).toBe("in time");
	const slow = patience.settle(new Promise(() => undefined));
	clock.advance(40);
	expect(await slow).toBe(abandoned);
	expect(await patience.settle(Promise.reject(new Error("late")))).toBe(abandoned);
	patience.end();
	expect(clock.waiting()).toBe(0);
});
