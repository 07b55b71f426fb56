import { expect, it } from "vitest";
import { encodeMessage, FrameDecoder, GREETING_BYTES, makeGreeting, makeReady, readCommand } from "./frames.ts";

it("A stream in pieces of any size gives the same messages", () => {
	const messages = [[Buffer.from("one")], [Buffer.alloc(0), Buffer.alloc(300, 7), Buffer.from("end")]];
	const stream = Buffer.concat([makeGreeting(), makeReady("DEALER"), ...messages.map(encodeMessage)]);
	for (const size of [1, 2, 7, 63, 64, 65, stream.length]) {
		const seen: unknown[] = [];
		const decoder = new FrameDecoder({
			onGreeting: (greeting) => seen.push(greeting.length),
			onCommand: (body) => seen.push(readCommand(body).name),
			onMessage: (frames) => seen.push(frames.map((frame) => Buffer.from(frame))),
			onBroken: (reason) => seen.push(reason),
		});
		for (let at = 0; at < stream.length; at += size) decoder.push(stream.subarray(at, at + size));
		expect(seen).toEqual([GREETING_BYTES, "READY", ...messages]);
	}
});
