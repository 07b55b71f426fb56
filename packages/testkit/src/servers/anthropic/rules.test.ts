import { describe, expect, it } from "vitest";
import { listBroken, type RuleTrial } from "../rule-table.ts";
import { sealText, signText } from "../sign.ts";
import { anthropicRules } from "./rules.ts";

const headers = { "anthropic-version": "2023-06-01" };
const user = { role: "user", content: "hi" };
const done = { role: "assistant", content: "done" };
const tool = { name: "run", input_schema: { type: "object", properties: { code: { type: "string" } } } };
const effort = { role: "system", content: [], output_config: { effort: "low" } };
const cached = { type: "text", text: "hi", cache_control: { type: "ephemeral" } };

function fields(extra: object, more: Partial<RuleTrial> = {}): RuleTrial {
	return { body: { model: "m", max_tokens: 2000, messages: [user], stream: true, ...extra }, headers, ...more };
}

function talk(...messages: unknown[]): RuleTrial {
	return fields({ messages, tools: [tool] });
}

function call(id: string, input: unknown = {}): object {
	return { type: "tool_use", id, name: "run", input };
}

function result(id: string): object {
	return { type: "tool_result", tool_use_id: id, content: "ok" };
}

function says(...content: object[]): object {
	return { role: "assistant", content };
}

function gives(...content: object[]): object {
	return { role: "user", content };
}

function toolNamed(name: string, schema: unknown = { type: "object" }): object {
	return { name, input_schema: schema };
}

function thinking(text: string, signature: string): object {
	return { type: "thinking", thinking: text, signature };
}

/** A request with this message in the middle, and the beta headers that its parts need. */
function changesEffort(message: object, ...after: object[]): RuleTrial {
	const betas = "mid-conversation-output-config-2026-07-01,thinking-binding-controls-2026-08-01";
	const binding = { type: "adaptive", block_binding: { prefix_mismatch_behavior: "drop_block" } };
	const messages = [user, done, message, ...after];
	return fields({ messages, thinking: binding }, { headers: { ...headers, "anthropic-beta": betas } });
}

function image(data: string): object {
	return { type: "image", source: { type: "base64", media_type: "image/png", data } };
}

const failing: Record<string, RuleTrial[]> = {
	"api-key": [
		fields({}, { options: { apiKey: "right" } }),
		fields({}, { options: { apiKey: "right" }, headers: { ...headers, "x-api-key": "wrong" } }),
	],
	"version-header": [fields({}, { headers: {} })],
	"lone-surrogate": [talk({ role: "user", content: "cut \udc00" })],
	"missing-field": [
		{ headers, body: { model: "m", messages: [user] } },
		{ headers, body: { max_tokens: 5, messages: [user] } },
		talk(user, says({ type: "thinking", thinking: "hm" }, { type: "text", text: "a" }), user),
		fields({ tools: [{ name: "run" }] }),
	],
	"unknown-field": [
		fields({ reasoning_effort: "low" }),
		talk({ ...user, timestamp: 1 }),
		talk(user, { ...effort, content: "Be brief." }),
		talk(user, effort),
		fields({ thinking: { type: "adaptive", block_binding: {} } }),
		changesEffort({ ...user, output_config: { effort: "low" } }),
		talk(gives({ type: "text", text: "hi", textSignature: "x" })),
		fields({ tools: [{ ...tool, parameters: {} }] }),
		talk(user, says({ ...thinking("a", signText("m", "a")), cache_control: { type: "ephemeral" } }, cached), user),
	],
	"wrong-type": [
		fields({ max_tokens: "many" }),
		talk({ role: "user", content: 1 }),
		talk("hi"),
		fields({ tools: tool }),
	],
	"wrong-value": [
		talk({ role: "tool", content: "hi" }),
		talk(gives({ type: "image_url", url: "x" })),
		fields({ tool_choice: { type: "maybe" } }),
		fields({ tools: [toolNamed("run", { type: "array" })] }),
		changesEffort({ ...effort, output_config: { effort: "most" } }, user),
	],
	"unknown-model": [fields({}, { options: { models: ["other"] } })],
	"no-messages": [talk()],
	"first-role": [talk(done, user)],
	"last-role": [talk(user, done), changesEffort(effort)],
	"empty-content": [
		talk(user, { role: "assistant", content: [] }, user),
		talk({ role: "user", content: "" }),
		changesEffort({ ...effort, output_config: {} }, user),
	],
	"empty-text": [
		talk(gives({ type: "text", text: "" })),
		talk({ role: "user", content: " \n" }),
		fields({ system: [{ type: "text", text: "" }] }),
	],
	"number-range": [fields({ temperature: 1.5 }), fields({ top_p: -1 }), fields({ max_tokens: -1 })],
	"thinking-budget": [
		fields({ thinking: { type: "enabled", budget_tokens: 100 } }),
		fields({ thinking: { type: "enabled", budget_tokens: 2000 } }),
	],
	"thinking-temperature": [fields({ thinking: { type: "adaptive" }, temperature: 0.5 })],
	"tool-name": [fields({ tools: [toolNamed("run it")] }), fields({ tools: [toolNamed("x".repeat(129))] })],
	"duplicate-tool": [fields({ tools: [tool, tool] })],
	"tool-schema": [
		fields({ tools: [toolNamed("run", { type: "object", properties: { code: { type: "text" } } })] }),
		fields({ tools: [toolNamed("run", { type: "object", properties: [] })] }),
	],
	"tools-required": [fields({ messages: [user, says(call("a")), gives(result("a"))] })],
	"call-id": [talk(user, says(call("a|b")), gives(result("a|b")))],
	"call-input": [
		talk(user, says(call("a", "{}")), gives(result("a"))),
		talk(user, says(call("a", [])), gives(result("a"))),
	],
	"orphan-result": [
		talk(gives(result("a"))),
		talk(user, says(call("a")), gives(result("a"), result("b"))),
		talk(user, says(call("a")), gives(result("a")), done, gives(result("a"))),
	],
	"missing-result": [
		talk(user, says(call("a"))),
		talk(user, says(call("a")), user),
		talk(user, says(call("a"), call("b")), gives(result("b"))),
	],
	"duplicate-call": [
		talk(user, says(call("a"), call("a")), gives(result("a"))),
		talk(user, says(call("a")), gives(result("a")), says(call("a")), gives(result("a"))),
	],
	"duplicate-result": [talk(user, says(call("a")), gives(result("a"), result("a")))],
	"results-first": [
		talk(user, says(call("a")), gives({ type: "text", text: "so" }, result("a"))),
		talk(user, says(call("a")), user, gives(result("a"))),
	],
	"thinking-signature": [
		talk(user, says(thinking("hm", "made up"), { type: "text", text: "a" }), user),
		talk(user, says(thinking("hm", signText("other", "hm")), { type: "text", text: "a" }), user),
		talk(user, says(thinking("changed", signText("m", "hm")), { type: "text", text: "a" }), user),
		talk(user, says({ type: "redacted_thinking", data: sealText("other", "hm") }, { type: "text", text: "a" }), user),
	],
	"thinking-last": [talk(user, says({ type: "text", text: "a" }, thinking("hm", signText("m", "hm"))), user)],
	"cache-control": [talk(gives(cached, cached, cached, cached, cached))],
	"image-data": [
		talk(gives(image("%%"))),
		talk(user, says(call("a")), gives({ ...result("a"), content: [image("a")] })),
	],
	"context-overflow": [{ ...talk({ role: "user", content: "x".repeat(400) }), options: { contextWindow: 100 } }],
};

const accepted: Record<string, RuleTrial> = {
	"a whole conversation with signed thinking, parallel calls, images and caching": fields({
		system: [{ ...cached, text: "rules" }],
		tools: [{ ...tool, cache_control: { type: "ephemeral" } }],
		thinking: { type: "enabled", budget_tokens: 1024 },
		messages: [
			gives({ type: "text", text: "look" }, image("iVBORw0KGgo=")),
			says(thinking("hm", signText("m", "hm")), { type: "text", text: "a" }, call("a"), call("b")),
			gives(result("b"), { ...result("a"), is_error: true }, { type: "text", text: "more" }),
			user,
			says({ type: "redacted_thinking", data: sealText("m", "secret: with colon") }, { type: "text", text: "a" }),
			gives(cached, cached),
		],
	}),
	"an effort that changes in the middle and at the end, asked for by its beta header": changesEffort(
		effort,
		user,
		effort,
	),
	"the right key in either header, a known model and messages that just fit": fields(
		{},
		{
			headers: { ...headers, authorization: "Bearer right" },
			options: { apiKey: "right", models: ["m"], contextWindow: 8 },
		},
	),
};

describe("Anthropic rules", () => {
	it("have a failing request for each rule, and failing requests for nothing else", () => {
		expect(Object.keys(failing).sort()).toEqual(anthropicRules.map((rule) => rule.name).sort());
	});

	for (const [rule, trials] of Object.entries(failing)) {
		it.each(trials.map((trial, index) => [index + 1, trial] as const))(
			`${rule} alone refuses its request %i`,
			(_, trial) => {
				expect(listBroken(anthropicRules, trial)).toEqual([rule]);
			},
		);
	}

	it.each(Object.entries(accepted))("accept %s", (_, trial) => {
		expect(listBroken(anthropicRules, trial)).toEqual([]);
	});
});
