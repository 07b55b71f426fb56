import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { raw, reply } from "@prime-agent/testkit";
import { expect, test } from "vitest";
import { echo, notGiven, openWire, type WireSession } from "../testing/wire.ts";

const done = reply({ text: "done" });

function roles(body: { messages: { role: string }[] }): string[] {
	return body.messages.map(({ role }) => role);
}

/** The beta features that the first request names. */
function listBetas(at: WireSession): string[] {
	const sent = at.server.modelRequests[0]?.headers["anthropic-beta"];
	return sent === undefined ? [] : String(sent).split(",");
}

test("a call goes back with its result first in the next user message", async () => {
	await using at = await openWire("anthropic", [reply({ calls: [echo("a", "toolu_1")] }), done]);
	expect(await at.run()).toEqual({ reason: "stop" });
	const [, assistant, user] = at.body(1).messages;
	expect(assistant).toMatchObject({
		role: "assistant",
		content: [{ type: "tool_use", id: "toolu_1", name: "echo", input: { text: "a" } }],
	});
	expect(user.role).toBe("user");
	expect(user.content[0]).toMatchObject({ type: "tool_result", tool_use_id: "toolu_1" });
	expect(JSON.stringify(user.content[0].content)).toContain("echo a");
});

test("the results of the running calls and a steering message after them share one user message", async () => {
	await using at = await openWire("anthropic", [reply({ calls: [echo("a"), echo("b")] }), done, done], {
		onEcho: (text) => text === "a" && at.session.steer("mind this"),
	});
	await at.run();
	const { messages } = at.body(1);
	expect(roles(at.body(1))).toEqual(["user", "assistant", "user"]);
	expect(messages[2].content.map((part: { type: string }) => part.type)).toEqual([
		"tool_result",
		"tool_result",
		"text",
	]);
	expect(messages[2].content[2].text).toBe("mind this");
	await at.run("next");
	expect(roles(at.body(2))).toEqual(["user", "assistant", "user", "assistant", "user"]);
});

test("the results of parallel calls share one user message in call order, a failed one among them", async () => {
	const calls = [echo("one", "t1"), echo("fail", "t2"), echo("three", "t3")];
	await using at = await openWire("anthropic", [reply({ calls }), done]);
	await at.run();
	const results = at.body(1).messages.at(-1).content;
	expect(results.map((part: { tool_use_id: string }) => part.tool_use_id)).toEqual(["t1", "t2", "t3"]);
	expect(results.map((part: { is_error?: boolean }) => part.is_error ?? false)).toEqual([false, true, false]);
	expect(JSON.stringify(results[1].content)).toContain("Tool error (echo): failed on request");
});

test("thinking goes back first and unchanged with its signature", async () => {
	await using at = await openWire("anthropic", [reply({ thinking: "deep thought", calls: [echo("a")] }), done]);
	await at.run();
	const [thinking, call] = at.body(1).messages[1].content;
	expect(thinking).toMatchObject({ type: "thinking", thinking: "deep thought", signature: expect.any(String) });
	expect(thinking.signature.length).toBeGreaterThan(0);
	expect(call.type).toBe("tool_use");
	expect(at.server.rejections).toEqual([]);
});

test("redacted thinking goes back with the same data", async () => {
	const blocks = [
		{ type: "thinking", text: "hidden", redacted: true } as const,
		{ type: "call", ...echo("a") } as const,
	];
	await using at = await openWire("anthropic", [reply({ blocks }), done]);
	await at.run();
	expect(at.body(1).messages[1].content[0]).toMatchObject({ type: "redacted_thinking", data: expect.any(String) });
	expect(at.server.rejections).toEqual([]);
});

/** Where the cache markers of a request stand. */
function findMarkers(body: Record<string, unknown>): string[] {
	const found: string[] = [];
	const walk = (value: unknown, path: string): void => {
		if (typeof value !== "object" || value === null) return;
		if ("cache_control" in value) found.push(path);
		for (const [key, one] of Object.entries(value)) walk(one, `${path}/${key}`);
	};
	walk(body, "");
	return found;
}

test("cache markers stand on the instructions, the tools and the last two user messages, and nowhere else", async () => {
	const steps = [reply({ calls: [echo("a")] }), reply({ calls: [echo("b"), echo("c")] }), done];
	await using at = await openWire("anthropic", steps);
	await at.run();
	const body = at.body(2);
	expect(findMarkers(body).sort()).toEqual([
		"/messages/2/content/0",
		"/messages/4/content/1",
		`/system/${body.system.length - 1}`,
		`/tools/${body.tools.length - 1}`,
	]);
	expect(listBetas(at)).toContain("prompt-caching-2024-07-31");
});

test("caching can be switched off", async () => {
	await using at = await openWire("anthropic", [reply({ calls: [echo("a")] }), done], {
		settings: { cachePrompts: false },
	});
	await at.run();
	expect(findMarkers(at.body(1))).toEqual([]);
	expect(listBetas(at)).toEqual([]);
});

test("a cache marker never stands on thinking", async () => {
	await using at = await openWire("anthropic", [reply({ thinking: "t", text: "said" }), done]);
	await at.run("one");
	await at.run("two");
	const { messages } = at.body(1);
	expect(findMarkers({ messages })).toEqual(["/messages/0/content/0", "/messages/2/content/0"]);
});

test("the usage of a reply is the last one reported, with cached tokens of both kinds", async () => {
	const usage = { input: 1000, output: 50, cacheRead: 700, cacheWrite: 200 };
	await using at = await openWire("anthropic", [reply({ text: "done", usage })]);
	await at.run();
	expect(at.session.usage).toEqual({ prompt: 1000, output: 50 });
	const end = at.events.findLast((event) => event.type === "message_end");
	expect(end?.message).toMatchObject({ usage: { input: 100, output: 50, cacheRead: 700, cacheWrite: 200 } });
});

test.each([
	["claude-sonnet-4-5", 64_000],
	["claude-of-tomorrow", 4096],
])("%s may answer with %s tokens", async (model, tokens) => {
	await using at = await openWire("anthropic", [done], { model });
	await at.run();
	expect(at.body(0)).toMatchObject({ model, max_tokens: tokens });
});

test("effort is a level for newer models and a budget below the limit of output for older ones", async () => {
	await using newer = await openWire("anthropic", [done], {
		model: "claude-opus-5",
		settings: { reasoningEffort: "high" },
	});
	await newer.run();
	expect(newer.body(0)).toMatchObject({ thinking: { type: "adaptive" }, output_config: { effort: "high" } });
	await using older = await openWire("anthropic", [done], {
		model: "claude-sonnet-4-5",
		settings: { reasoningEffort: "high" },
	});
	await older.run();
	const { thinking, max_tokens } = older.body(0);
	expect(thinking.type).toBe("enabled");
	expect(thinking.budget_tokens).toBeGreaterThanOrEqual(1024);
	expect(thinking.budget_tokens).toBeLessThan(max_tokens);
});

test("a call without arguments has empty ones", async () => {
	await using at = await openWire("anthropic", [reply({ calls: [{ name: "glob", arguments: "" }] }), done]);
	expect(await at.run()).toEqual({ reason: "stop" });
	expect(at.body(1).messages[1].content[0].input).toEqual({});
	expect(JSON.stringify(at.body(1).messages[2])).toContain("pattern");
});

test("a call with broken arguments gets an error and the run goes on", async () => {
	await using at = await openWire("anthropic", [reply({ calls: [{ name: "echo", arguments: '{"text":' }] }), done]);
	expect(await at.run()).toEqual({ reason: "stop" });
	expect(at.body(1).messages[2].content[0]).toMatchObject({ type: "tool_result", is_error: true });
});

test("pings and events of unknown kinds are passed over", async () => {
	const noise = Buffer.from('event: ping\ndata: {"type":"ping"}\n\nevent: new_thing\ndata: {"type":"new_thing"}\n\n');
	await using at = await openWire("anthropic", [
		reply({ text: "said", mutate: (frames) => frames.flatMap((frame) => [frame, noise]) }),
	]);
	expect(await at.run()).toEqual({ reason: "stop" });
	expect(at.session.lastText).toBe("said");
});

const overloaded = { type: "overloaded_error", message: "Overloaded" };

test("an overload inside of the stream before any content is tried again", async () => {
	await using at = await openWire("anthropic", [reply({ errorInStream: overloaded }), done]);
	expect(await at.run()).toEqual({ reason: "stop" });
	expect(at.events.filter((event) => event.type === "retry")).toHaveLength(1);
});

test("an error after text is not tried again and the text was told", async () => {
	await using at = await openWire("anthropic", [reply({ text: "some words", errorInStream: overloaded })]);
	expect(await at.run()).toMatchObject({ reason: "error" });
	expect(at.server.modelRequests).toHaveLength(1);
	const told = at.events.flatMap((event) =>
		event.type === "message_update" && event.assistantMessageEvent.type === "text_delta"
			? [event.assistantMessageEvent.delta]
			: [],
	);
	expect(told.join("")).toBe("some words");
});

test("a stream that is cut before its end is an error", async () => {
	await using at = await openWire("anthropic", [reply({ text: "half", end: "cut" })]);
	expect(await at.run()).toMatchObject({ reason: "error", failure: "truncated" });
});

test("tools can be declared without being wanted", async () => {
	await using at = await openWire("anthropic", [done], { request: { toolChoice: "none" } });
	await at.run();
	expect(at.body(0).tools === undefined || at.body(0).tool_choice?.type === "none").toBe(true);
});

test("beta features of the host and of the session are sent together, each once", async () => {
	const headers = { "anthropic-beta": "one-2026, prompt-caching-2024-07-31,two-2026" };
	await using at = await openWire("anthropic", [done], {
		model: "claude-sonnet-4-5",
		settings: { reasoningEffort: "high" },
		headers,
	});
	await at.run();
	expect(listBetas(at)).toEqual([
		"one-2026",
		"prompt-caching-2024-07-31",
		"two-2026",
		"interleaved-thinking-2025-05-14",
	]);
});

test("empty text is left out of the conversation", async () => {
	const blocks = [{ type: "text", text: "" } as const, { type: "call", ...echo("a") } as const];
	await using at = await openWire("anthropic", [reply({ blocks }), done]);
	expect(await at.run()).toEqual({ reason: "stop" });
	expect(at.body(1).messages[1].content.map((part: { type: string }) => part.type)).toEqual(["tool_use"]);
});

test.skip("messages of the role developer are joined with the instructions: pi-ai has no such role", notGiven);

test("a refusal of the key is told with its kind at once", async () => {
	const body = { type: "error", error: { type: "authentication_error", message: "invalid x-api-key" } };
	await using at = await openWire("anthropic", [raw({ status: 401, body })]);
	expect(await at.run()).toMatchObject({ reason: "error", failure: "auth" });
	expect(at.session.state).toBe("closed");
});

test("an image that a tool read is sent inside of its result", async () => {
	const png = Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), Buffer.alloc(20)]);
	const calls = [{ name: "read_file", arguments: { file_path: "p.png" } }];
	await using at = await openWire("anthropic", [reply({ calls }), done]);
	await writeFile(join(at.folder.path, "p.png"), png);
	expect(await at.run()).toEqual({ reason: "stop" });
	const [result] = at.body(1).messages.at(-1).content;
	expect(result.content).toContainEqual({
		type: "image",
		source: { type: "base64", media_type: "image/png", data: png.toString("base64") },
	});
});
