import { expect, test } from "vitest";
import { handClock } from "../testing/clock.ts";
import { type LimitName, type StreamLimits, watchStream } from "./watch.ts";

function start(limits: Partial<StreamLimits>) {
	const clock = handClock();
	const expired: [LimitName, number][] = [];
	const all = { firstByteMs: 0, idleMs: 0, progressMs: 0, totalMs: 0, ...limits };
	const watch = watchStream(all, clock, (limit) => expired.push([limit, clock.now()]));
	return { clock, expired, watch };
}

test("the first-byte limit runs out when nothing comes", () => {
	const { clock, expired } = start({ firstByteMs: 100, idleMs: 10, progressMs: 10 });
	clock.advance(99);
	expect(expired).toEqual([]);
	clock.advance(1_000);
	expect(expired).toEqual([["firstByte", 100]]);
});

test("the idle limit counts from the last byte, also when it is shorter than the first-byte limit", () => {
	const { clock, expired, watch } = start({ firstByteMs: 1_000, idleMs: 50 });
	clock.advance(900);
	watch.noteByte();
	clock.advance(40);
	watch.noteByte();
	clock.advance(1_000);
	expect(expired).toEqual([["idle", 990]]);
});

test("bytes without progress hold off the idle limit and not the progress limit", () => {
	const { clock, expired, watch } = start({ firstByteMs: 100, idleMs: 50, progressMs: 200 });
	for (let times = 0; times < 30; times++) {
		clock.advance(10);
		watch.noteByte();
	}
	expect(expired).toEqual([["progress", 210]]);
});

test("progress holds off every limit but the total one", () => {
	const { clock, expired, watch } = start({ firstByteMs: 100, idleMs: 50, progressMs: 60, totalMs: 500 });
	for (let times = 0; times < 60; times++) {
		clock.advance(10);
		watch.noteProgress();
	}
	expect(expired).toEqual([["total", 500]]);
});

test("limits of 0 never run out and leave no timer behind", () => {
	const { clock, expired, watch } = start({});
	watch.noteByte();
	clock.advance(1e9);
	expect(expired).toEqual([]);
	expect(clock.waiting()).toBe(0);
});

test("a stopped watch expires no more and leaves no timer behind", () => {
	const { clock, expired, watch } = start({ firstByteMs: 100, idleMs: 100 });
	watch.noteByte();
	watch.stop();
	watch.noteByte();
	clock.advance(1_000);
	expect(expired).toEqual([]);
	expect(clock.waiting()).toBe(0);
});

test("only the first limit that runs out is told", () => {
	const { clock, expired, watch } = start({ firstByteMs: 100, totalMs: 200 });
	clock.advance(150);
	watch.noteByte();
	clock.advance(1_000);
	expect(expired).toEqual([["firstByte", 100]]);
});
