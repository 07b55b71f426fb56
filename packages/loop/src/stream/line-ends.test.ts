import type { FetchFunction } from "@earendil-works/pi-ai";
import {
	reply,
	startAnthropicServer,
	startChatServer,
	startGeminiServer,
	startResponsesServer,
} from "@prime-agent/testkit";
import { expect, test } from "vitest";
import { textOf } from "../testing/script.ts";
import { callGuarded } from "../testing/server.ts";

/** Sends the server's event stream on with these line ends, cut behind every CR. */
function withLineEnds(lineEnd: string): FetchFunction {
	return async (input, init) => {
		const response = await fetch(input as Parameters<typeof fetch>[0], init as RequestInit);
		const text = (await response.text()).replaceAll("\n", lineEnd);
		const chunks = text.split(/(?<=\r)/).map((chunk) => Buffer.from(chunk));
		return new Response(ReadableStream.from(chunks), { headers: response.headers });
	};
}

test.each([
	["openai-completions", startChatServer],
	["anthropic-messages", startAnthropicServer],
	["openai-responses", startResponsesServer],
	["google-generative-ai", startGeminiServer],
])("%s: a CR LF that two chunks share breaks no reply", async (api, start) => {
	await using server = await start();
	const calls = [{ id: "call_1", name: "echo", arguments: { text: "wörld" } }];
	server.script(reply({ text: "hello 👋", calls, chunk: 2 }));
	const { message } = await callGuarded(server.baseUrl, { api, fetch: withLineEnds("\r\n") });
	expect([message.stopReason, textOf(message), message.errorMessage]).toEqual(["toolUse", "hello 👋", undefined]);
	expect(message.content).toContainEqual(expect.objectContaining({ name: "echo", arguments: { text: "wörld" } }));
});

test("a CR at the very end of a stream is passed on", async () => {
	await using server = await startChatServer();
	server.script(reply({ text: "hello" }));
	const { message } = await callGuarded(server.baseUrl, { fetch: withLineEnds("\r") });
	expect(message.errorMessage).toBeUndefined();
	expect(textOf(message)).toBe("hello");
});
