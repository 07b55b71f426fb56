import { expect, test } from "vitest";
import { readError, scanBody } from "./scan.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const sse = "text/event-stream";

function scan(text: string, api = "openai-completions", contentType = sse) {
	const lines: string[] = [];
	const scanner = scanBody(contentType, api, (line) => lines.push(line));
	const moves = Array.from(bytes(text), (byte) => scanner.push(Uint8Array.of(byte))).filter(Boolean).length;
	scanner.end();
	return { scanner, moves, lines };
}

test("events are progress, comments, pings and blank lines are not", () => {
	const ping = 'event: ping\ndata: {"type":"ping"}\n\n';
	expect(scan(`: hello\n\n${ping}data: {"type": "ping"}\n\n\n\n`).moves).toBe(0);
	expect(scan('data: {"a":1}\n\ndata: {"b":2}\n\n').moves).toBe(2);
});

test.each(["\n", "\r\n", "\r"])("lines end in any of the ways that the format allows (%j)", (end) => {
	const { lines, scanner } = scan(`data: {"x":"日本"}${end}${end}data: {"finish_reason":"stop"}${end}${end}`);
	expect(lines).toEqual(['data: {"x":"日本"}', 'data: {"finish_reason":"stop"}']);
	expect(scanner.isComplete).toBe(true);
});

test("a CR LF that two chunks share is one line end and closes no event", () => {
	expect(scan("event: error\r\ndata: boom\r\n\r\n").scanner.error).toEqual({ text: "boom" });
});

test("the last event counts without the blank line that should follow it", () => {
	expect(scan('data: {"finish_reason":"stop"}').scanner.isComplete).toBe(true);
});

test.each([
	["openai-completions", '{"choices":[{"finish_reason":null}]}', '{"choices":[{"finish_reason":"stop"}]}'],
	["openai-completions", '{"choices":[{"delta":{"content":"[DONE]"}}]}', "[DONE]"],
	["anthropic-messages", '{"type":"message_start","message":{"stop_reason":null}}', '{"type":"message_stop"}'],
	["openai-responses", '{"type":"response.created"}', '{"type":"response.completed"}'],
	["google-generative-ai", '{"candidates":[{}]}', '{"candidates":[{"finishReason":"STOP"}]}'],
])("a stream of %s is complete with its end mark only", (api, middle, end) => {
	expect(scan(`data: ${middle}\n\n`, api).scanner.isComplete).toBe(false);
	expect(scan(`data: ${middle}\n\ndata: ${end}\n\n`, api).scanner.isComplete).toBe(true);
});

test("an end mark inside a text of the model is none", () => {
	const text = JSON.stringify({ delta: { content: 'say "finish_reason": "stop" and "type": "message_stop"' } });
	expect(scan(`data: ${text}\n\n`).scanner.isComplete).toBe(false);
	expect(scan(`data: ${text}\n\n`, "anthropic-messages").scanner.isComplete).toBe(false);
});

test("formats without a known end mark count as complete", () => {
	expect(scan("data: {}\n\n", "something-else").scanner.isComplete).toBe(true);
});

test.each([
	[
		"an error event",
		'event: error\ndata: {"error":{"type":"overloaded_error"}}\n\n',
		{ text: '{"type":"overloaded_error"}' },
	],
	["an error event without JSON", "event: error\ndata: boom\n\n", { text: "boom" }],
	[
		"an error object with a status",
		'data: {"error":{"code":503,"message":"busy"}}\n\n',
		{ status: 503, text: '{"code":503,"message":"busy"}' },
	],
	[
		"a failed response",
		'data: {"type":"response.failed","response":{"error":{"code":"server_error"}}}\n\n',
		{ text: '{"code":"server_error"}' },
	],
	[
		"an error of type error",
		'data: {"type":"error","message":"boom"}\n\n',
		{ text: '{"type":"error","message":"boom"}' },
	],
])("%s in a stream is found", (_form, text, error) => {
	expect(scan(text).scanner.error).toEqual(error);
});

test("a null error and the word error in a text are no errors", () => {
	expect(scan('data: {"error":null}\n\ndata: {"delta":"{\\"error\\":1}"}\n\n').scanner.error).toBeUndefined();
});

test("a body that is no event stream is progress with every byte and keeps only its head", () => {
	const { scanner } = scan("", "openai-completions", "application/json");
	expect(scanner.isComplete).toBe(true);
	const json = scanBody("application/json", "openai-completions");
	expect(json.push(bytes("x".repeat(100_000)))).toBe(true);
	expect(json.head).toHaveLength(65_536);
});

test("an error is read from the documents that servers send", () => {
	expect(readError('[{"error":{"code":429}}]')).toEqual({ status: 429, text: '{"code":429}' });
	expect(readError('{"object":"error","message":"no","code":400}')?.status).toBe(400);
	expect(readError('{"error":"nope"}')).toEqual({ text: "nope" });
	expect(readError('{"choices":[]}')).toBeUndefined();
	expect(readError("<html>")).toBeUndefined();
});
