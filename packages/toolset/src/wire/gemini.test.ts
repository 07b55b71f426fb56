import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { raw, reply } from "@prime-agent/testkit";
import { expect, test } from "vitest";
import { echo, openWire } from "../testing/wire.ts";

const done = reply({ text: "done" });
// biome-ignore lint/suspicious/noExplicitAny: the parts of a request have many shapes
type Part = any;

const partsOf = (body: Part): Part[] => body.contents.flatMap((content: Part) => content.parts);

test("instructions have their own field and the conversation has users and models", async () => {
	await using at = await openWire("gemini", [reply({ calls: [echo("a")] }), done]);
	await at.run();
	const body = at.body(1);
	expect(JSON.stringify(body.systemInstruction)).toContain("You are a coding agent");
	expect(body.contents.map((content: Part) => content.role)).toEqual(["user", "model", "user"]);
});

test("two calls of one tool get their own ids and their responses stand together in order", async () => {
	await using at = await openWire("gemini", [reply({ calls: [echo("one"), echo("two")] }), done]);
	expect(await at.run()).toEqual({ reason: "stop" });
	const starts = at.events.flatMap((event) => (event.type === "tool_execution_start" ? [event.toolCallId] : []));
	expect(new Set(starts).size).toBe(2);
	const { parts } = at.body(1).contents.at(-1);
	expect(parts.map((part: Part) => part.functionResponse.name)).toEqual(["echo", "echo"]);
	expect(JSON.stringify(parts[0])).toContain("echo one");
	expect(JSON.stringify(parts[1])).toContain("echo two");
});

test("a thought signature goes back on the part it came with, and only there", async () => {
	await using at = await openWire("gemini", [reply({ thinking: "hmm", calls: [echo("one"), echo("two")] }), done]);
	expect(await at.run()).toEqual({ reason: "stop" });
	const calls = partsOf(at.body(1)).filter((part) => part.functionCall);
	expect(calls.map((part) => part.thoughtSignature !== undefined)).toEqual([true, false]);
	expect(at.server.rejections).toEqual([]);
});

test("a call counts although the server says that it stopped", async () => {
	await using at = await openWire("gemini", [reply({ calls: [echo("a")], finish: "stop" }), done]);
	expect(await at.run()).toEqual({ reason: "stop" });
	expect(at.server.modelRequests).toHaveLength(2);
});

test("results and failures of tools are objects", async () => {
	await using at = await openWire("gemini", [reply({ calls: [echo("a"), echo("fail")] }), done]);
	await at.run();
	const [good, bad] = at
		.body(1)
		.contents.at(-1)
		.parts.map((part: Part) => part.functionResponse.response);
	expect(Object.values(good)).toEqual(["echo a"]);
	expect(bad).toEqual({ error: expect.stringContaining("failed on request") });
});

test("thoughts are a part of the output", async () => {
	const usage = { input: 30, output: 15, reasoning: 5 };
	await using at = await openWire("gemini", [reply({ thinking: "hmm", text: "done", usage })]);
	await at.run();
	const end = at.events.findLast((event) => event.type === "message_end");
	expect(end?.message).toMatchObject({ usage: { output: 15, reasoning: 5 } });
	expect(at.session.usage).toEqual({ prompt: 30, output: 15 });
});

test("a blocked prompt is an error", async () => {
	const body = `data: ${JSON.stringify({ promptFeedback: { blockReason: "SAFETY" }, usageMetadata: { promptTokenCount: 5, totalTokenCount: 5 } })}\n\n`;
	const blocked = raw({ status: 200, headers: { "content-type": "text/event-stream" }, body });
	await using at = await openWire("gemini", [blocked, blocked, blocked]);
	expect(await at.run()).toMatchObject({ reason: "error" });
});

test.each([
	[404, "NOT_FOUND", "invalid_request", 1],
	[400, "INVALID_ARGUMENT", "invalid_request", 1],
	[401, "UNAUTHENTICATED", "auth", 1],
	[403, "PERMISSION_DENIED", "auth", 1],
	[429, "RESOURCE_EXHAUSTED", "rate_limit", 3],
	[503, "UNAVAILABLE", "overloaded", 3],
	[500, "INTERNAL", "server_error", 3],
])("status %s %s is a failure of kind %s after %s requests", async (code, status, failure, count) => {
	const body = { error: { code, status, message: "no" } };
	await using at = await openWire("gemini", Array(count).fill(raw({ status: code, body })));
	const end = await at.run();
	expect(end.reason).toBe("error");
	expect([failure, "server_error", "overloaded"]).toContain(end.failure);
	if (count === 1) expect(end.failure).toBe(failure);
	expect(at.server.modelRequests).toHaveLength(count);
});

test("a key that is not valid is an error of the key although the status is 400", async () => {
	const body = {
		error: { code: 400, status: "INVALID_ARGUMENT", message: "API key not valid. Please pass a valid API key." },
	};
	await using at = await openWire("gemini", [raw({ status: 400, body })]);
	expect(await at.run()).toMatchObject({ failure: "auth", error: expect.stringContaining("GEMINI_API_KEY") });
});

test("schemas carry nothing that the server refuses", async () => {
	await using at = await openWire("gemini", [done]);
	await at.run();
	expect(at.server.modelRequests[0]?.raw).not.toMatch(/"(additionalProperties|\$schema)"/);
});

test("thoughts are reasoning and no text", async () => {
	await using at = await openWire("gemini", [reply({ thinking: "secret thought", text: "answer" })]);
	await at.run();
	expect(at.session.lastText).toBe("answer");
});

test("a stream without a reason for its end is an error", async () => {
	await using at = await openWire("gemini", [reply({ text: "half", end: "no-finish" })]);
	expect(await at.run()).toMatchObject({ reason: "error", failure: "truncated" });
});

test("the key travels in a header and stands in no address", async () => {
	await using at = await openWire("gemini", [done]);
	await at.run();
	const [request] = at.server.modelRequests;
	expect(request?.headers["x-goog-api-key"]).toBe("test-key-0123456789");
	expect(request?.path).not.toContain("test-key");
	expect(JSON.stringify(at.debug)).not.toContain("test-key-0123456789");
});

test("an image that a tool read is sent as inline data", async () => {
	const png = Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), Buffer.alloc(20)]);
	await using at = await openWire("gemini", [
		reply({ calls: [{ name: "read_file", arguments: { file_path: "p.png" } }] }),
		done,
	]);
	await writeFile(join(at.folder.path, "p.png"), png);
	expect(await at.run()).toEqual({ reason: "stop" });
	expect(at.server.modelRequests[1]?.raw).toContain(png.toString("base64"));
});
