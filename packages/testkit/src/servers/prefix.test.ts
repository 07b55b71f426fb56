import { expect, it } from "vitest";
import { sharedPrefix } from "./prefix.ts";

const request = (body: string) => ({ raw: body });

it("finds that a request with added messages continues the one before", () => {
	const first = request('{"model":"m","messages":[{"role":"user","content":"a, \\"b\\" ]}"}],"tools":[{"name":"x"}]}');
	const second = request(
		'{"tools":[{"name":"x"}],"messages":[{"role":"user","content":"a, \\"b\\" ]}"},{"role":"assistant"}],"n":1}',
	);
	expect(sharedPrefix(first, second)).toEqual({ isPrefix: true, shared: 1 });
});

it("is not misled by quotes, brackets and commas inside texts", () => {
	const first = request(String.raw`{"messages":[{"content":"one \" ]},{ \\"},{"content":"b"}]}`);
	const second = request(String.raw`{"messages":[{"content":"one \" ]},{ \\"},{"content":"b"},{"content":"c"}]}`);
	expect(sharedPrefix(first, second)).toEqual({ isPrefix: true, shared: 2 });
});

it("names the first message that changed and how", () => {
	const first = request('{"messages":[{"a":1},{"b":2},{"c":3}]}');
	const second = request('{"messages":[{"a":1},{"b":5},{"c":3}]}');
	expect(sharedPrefix(first, second)).toEqual({
		isPrefix: false,
		shared: 1,
		difference: 'messages[1] differs at 5: {"b":2} → {"b":5}',
	});
});

it("is not content with equal values in other bytes", () => {
	expect(sharedPrefix(request('{"input":["é"]}'), request('{"input":["\\u00e9"]}')).isPrefix).toBe(false);
	expect(sharedPrefix(request('{"input":[{"a":1,"b":2}]}'), request('{"input":[{"b":2,"a":1}]}')).isPrefix).toBe(false);
});

it("sees a dropped message, a changed system prompt and changed tools", () => {
	expect(sharedPrefix(request('{"messages":[1,2]}'), request('{"messages":[1]}')).isPrefix).toBe(false);
	expect(
		sharedPrefix(request('{"system":"a","messages":[]}'), request('{"system":"b","messages":[]}')).difference,
	).toBe('system differs at 1: "a" → "b"');
	expect(sharedPrefix(request('{"contents":[],"tools":[1]}'), request('{"contents":[]}')).isPrefix).toBe(false);
});

it("passes over members that may move", () => {
	const first = request(
		'{"system":[{"text":"s","cache_control":{}}],"messages":[{"c":[{"t":1,"cache_control":{"a":1}}]}]}',
	);
	const second = request('{"system":[{"text":"s"}],"messages":[{"c":[{"t":1}]},{"c":[{"t":2,"cache_control":{}}]}]}');
	expect(sharedPrefix(first, second).isPrefix).toBe(false);
	expect(sharedPrefix(first, second, { ignore: ["cache_control"] })).toEqual({ isPrefix: true, shared: 1 });
});

it("takes a text whose cache mark moved away for the same text", () => {
	const first = request('{"messages":[{"content":[{"type":"text","text":"hi","cache_control":{}}]}]}');
	const second = request('{"messages":[{"content":"hi"},{"content":"ho"}]}');
	expect(sharedPrefix(first, second).isPrefix).toBe(false);
	expect(sharedPrefix(first, second, { ignore: ["cache_control"] }).isPrefix).toBe(true);
	const other = request('{"messages":[{"content":"ha"}]}');
	expect(sharedPrefix(first, other, { ignore: ["cache_control"] }).isPrefix).toBe(false);
});
