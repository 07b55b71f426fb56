import { describe, expect, it } from "vitest";
import { listBroken, type RuleTrial } from "../rule-table.ts";
import { chatRules } from "./rules.ts";

const user = { role: "user", content: "hi" };
const tool = { type: "function", function: { name: "run", parameters: { type: "object", properties: {} } } };
const image = { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=" } };

function call(id: string, text = "{}"): object {
	return { id, type: "function", function: { name: "run", arguments: text } };
}

function ask(...calls: object[]): object {
	return { role: "assistant", content: null, tool_calls: calls };
}

function result(id: string): object {
	return { role: "tool", tool_call_id: id, content: "done" };
}

function chat(...messages: unknown[]): RuleTrial {
	return { body: { model: "m", messages, stream: true } };
}

function fields(extra: object): RuleTrial {
	return { body: { model: "m", messages: [user], stream: true, ...extra } };
}

function toolNamed(name: string, parameters: unknown = { type: "object" }): object {
	return { type: "function", function: { name, parameters } };
}

const failing: Record<string, RuleTrial[]> = {
	"api-key": [
		{ ...fields({}), options: { apiKey: "sk-right" } },
		{ ...fields({}), options: { apiKey: "sk-right" }, headers: { authorization: "Bearer sk-wrong" } },
	],
	"lone-surrogate": [chat({ role: "user", content: "cut \ud83d" })],
	"missing-field": [
		{ body: { messages: [user] } },
		{ body: { model: "m" } },
		chat({ role: "user" }),
		chat({ content: "hi" }),
		chat(user, ask({ type: "function", function: { name: "run", arguments: "{}" } }), result("undefined")),
	],
	"unknown-field": [
		fields({ reasoning: { effort: "low" } }),
		chat({ ...user, timestamp: 1 }),
		chat({ role: "user", content: [{ type: "text", text: "hi", cache_control: { type: "ephemeral" } }] }),
		chat(user, ask({ ...call("a"), index: 0 }), result("a")),
		chat(user, ask(call("a")), { ...result("a"), name: "run" }),
		fields({ tools: [{ ...tool, label: "Run" }] }),
		fields({ tools: [{ type: "function", function: { name: "run", label: "Run" } }] }),
		fields({ stream_options: { usage: true } }),
	],
	"wrong-type": [
		fields({ temperature: "hot" }),
		fields({ messages: "hi" }),
		chat("hi"),
		chat({ role: "user", content: 1 }),
		chat({ role: "user", content: null }),
		fields({ tools: { run: tool } }),
		chat(user, ask({ id: "a", type: "function", function: { name: "run", arguments: {} } }), result("a")),
	],
	"wrong-value": [
		fields({ reasoning_effort: "huge" }),
		chat({ role: "robot", content: "hi" }),
		chat({ role: "user", content: [{ type: "input_text", text: "hi" }] }),
		fields({ tools: [{ type: "tool", function: { name: "run" } }] }),
		fields({ tools: [tool], tool_choice: "maybe" }),
	],
	"unknown-model": [{ ...fields({}), options: { models: ["other"] } }],
	"empty-list": [
		fields({ messages: [] }),
		fields({ tools: [] }),
		chat({ role: "user", content: [] }),
		chat(user, { role: "assistant", content: "hi", tool_calls: [] }),
	],
	"number-range": [
		fields({ temperature: 2.5 }),
		fields({ top_p: -0.1 }),
		fields({ max_tokens: 0 }),
		fields({ max_completion_tokens: -5 }),
	],
	"stream-options": [{ body: { model: "m", messages: [user], stream_options: { include_usage: true } } }],
	"max-tokens": [fields({ max_tokens: 5, max_completion_tokens: 5 })],
	"tool-name": [
		fields({ tools: [toolNamed("run it")] }),
		fields({ tools: [toolNamed("")] }),
		fields({ tools: [toolNamed("x".repeat(65))] }),
	],
	"duplicate-tool": [fields({ tools: [tool, tool] })],
	"tool-schema": [
		fields({ tools: [toolNamed("run", { type: "array", items: {} })] }),
		fields({ tools: [toolNamed("run", { type: "object", required: "code" })] }),
		fields({ tools: [toolNamed("run", { type: "object", properties: [] })] }),
		fields({ tools: [toolNamed("run", { type: "object", properties: { code: { type: "text" } } })] }),
		fields({ tools: [toolNamed("run", { type: "object", properties: { list: { type: "array" } } })] }),
		fields({ tools: [toolNamed("run", { type: "object", properties: { any: { anyOf: [] } } })] }),
		fields({ tools: [toolNamed("run", { type: "object", additionalProperties: { type: 3 } })] }),
	],
	"tools-required": [fields({ tool_choice: "auto" }), fields({ parallel_tool_calls: true })],
	"system-first": [
		chat(user, { role: "system", content: "rules" }),
		chat(user, { role: "developer", content: "rules" }),
	],
	"empty-assistant": [
		chat(user, { role: "assistant", content: null }),
		chat(user, { role: "assistant", content: "" }),
		chat(user, { role: "assistant" }, user),
	],
	"orphan-result": [
		chat(result("a")),
		chat(user, ask(call("a")), result("a"), result("b")),
		chat(user, ask(call("a")), result("a"), user, result("a")),
	],
	"missing-result": [
		chat(user, ask(call("a"))),
		chat(user, ask(call("a")), user),
		chat(user, ask(call("a"), call("b")), result("b"), { role: "assistant", content: "hi" }),
	],
	"duplicate-call": [
		chat(user, ask(call("a"), call("a")), result("a")),
		chat(user, ask(call("a")), result("a"), ask(call("a")), result("a")),
	],
	"duplicate-result": [chat(user, ask(call("a")), result("a"), result("a"))],
	"call-arguments": [
		chat(user, ask(call("a", '{"code":')), result("a")),
		chat(user, ask(call("a", "[]")), result("a")),
		chat(user, ask(call("a", "")), result("a")),
	],
	"image-data": [
		chat({ role: "user", content: [{ type: "image_url", image_url: { url: "data:image/png;base64,%%" } }] }),
		chat({ role: "user", content: [{ type: "image_url", image_url: { url: "/home/user/a.png" } }] }),
		chat({ role: "user", content: [{ type: "image_url", image_url: { url: "data:image/tiff;base64,AAAA" } }] }),
	],
	"context-overflow": [{ ...chat({ role: "user", content: "x".repeat(400) }), options: { contextWindow: 100 } }],
};

const accepted: Record<string, RuleTrial> = {
	"a whole conversation with thinking, parallel calls and an image": chat(
		{ role: "developer", content: "rules" },
		{ role: "user", content: [{ type: "text", text: "look" }, image] },
		{ ...ask(call("a", '{"code":"1"}'), call("b")), reasoning_content: "hm" },
		result("b"),
		result("a"),
		{ role: "assistant", content: "done" },
		user,
	),
	"every usual setting": fields({
		tools: [tool],
		tool_choice: "auto",
		parallel_tool_calls: true,
		max_completion_tokens: 100,
		temperature: 0,
		store: false,
		stream_options: { include_usage: true },
		reasoning_effort: "high",
		prompt_cache_key: "session",
	}),
	"the right key, a known model and messages that just fit": {
		body: { model: "m", messages: [user], stream: true },
		headers: { authorization: "Bearer sk-right" },
		options: { apiKey: "sk-right", models: ["m"], contextWindow: 8 },
	},
};

describe("chat completion rules", () => {
	it("have a failing request for each rule, and failing requests for nothing else", () => {
		expect(Object.keys(failing).sort()).toEqual(chatRules.map((rule) => rule.name).sort());
	});

	for (const [rule, trials] of Object.entries(failing)) {
		it.each(trials.map((trial, index) => [index + 1, trial] as const))(
			`${rule} alone refuses its request %i`,
			(_, trial) => {
				expect(listBroken(chatRules, trial)).toEqual([rule]);
			},
		);
	}

	it.each(Object.entries(accepted))("accept %s", (_, trial) => {
		expect(listBroken(chatRules, trial)).toEqual([]);
	});
});
