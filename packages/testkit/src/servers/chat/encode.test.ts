import { expect, it } from "vitest";
import type { RecordedRequest } from "../request.ts";
import type { ReplyOptions } from "../step.ts";
import { encodeChat } from "./encode.ts";

const request: RecordedRequest = {
	method: "POST",
	path: "/v1/chat/completions",
	headers: {},
	raw: "",
	body: { model: "m" },
	at: 0,
};
const calls = [
	{ id: "a", name: "one", arguments: "1234" },
	{ id: "b", name: "two", arguments: "5678" },
];

/** The deltas of tool calls in the order they are sent: index, id and piece of the arguments. */
function listDeltas(options: ReplyOptions): unknown[] {
	return encodeChat({ calls, chunk: 2, ...options }, request).flatMap(({ data }) => {
		const delta = data === "[DONE]" ? undefined : JSON.parse(data).choices[0]?.delta.tool_calls?.[0];
		return delta ? [[delta.index, delta.id, delta.function.arguments]] : [];
	});
}

it("sends calls one after the other with their ids first", () => {
	expect(listDeltas({})).toEqual([
		[0, "a", ""],
		[0, undefined, "12"],
		[0, undefined, "34"],
		[1, "b", ""],
		[1, undefined, "56"],
		[1, undefined, "78"],
	]);
});

it("alternates the deltas of interleaved calls", () => {
	expect(listDeltas({ interleave: true }).map((delta) => (delta as number[])[0])).toEqual([0, 1, 0, 1, 0, 1]);
});

it("sends late ids with the last delta of each call", () => {
	expect(listDeltas({ lateIds: true }).map((delta) => (delta as string[])[1])).toEqual([
		undefined,
		undefined,
		"a",
		undefined,
		undefined,
		"b",
	]);
});

it("leaves an empty id out", () => {
	expect(listDeltas({ calls: [{ id: "", name: "one", arguments: {} }] })[0]).toEqual([0, undefined, ""]);
});

it("sends the usage only when the request asks for it", () => {
	const asking = { ...request, body: { model: "m", stream_options: { include_usage: true } } };
	const parts = [request, asking].map((each) => encodeChat({ text: "a" }, each).map(({ part }) => part));
	expect(parts).toEqual([
		["content", "content", "finish", "end"],
		["content", "content", "finish", "usage", "end"],
	]);
});
