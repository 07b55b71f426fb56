import { AssistantMessageEventStream } from "@earendil-works/pi-ai/utils/event-stream";
import { expect, test } from "vitest";
import { drainStream } from "./drain.ts";
import { emptyMessage } from "./faults.ts";
import { handClock } from "./testing/clock.ts";
import { testModel } from "./testing/script.ts";

test("a stream that goes on after the abort is left when the grace period is over", async () => {
	const clock = handClock();
	const abort = new AbortController();
	const stream = new AssistantMessageEventStream();
	const event = { type: "text_delta", contentIndex: 0, delta: "x", partial: emptyMessage(testModel) } as const;
	let seen = 0;
	const end = drainStream(stream, abort.signal, { clock, ms: 100 }, () => {
		seen++;
		abort.abort();
		clock.advance(30);
		stream.push(event);
	});
	stream.push(event);
	expect(await end).toEqual({ kind: "abandoned" });
	expect(seen).toBe(4);
});
