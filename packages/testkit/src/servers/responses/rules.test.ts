import { describe, expect, it } from "vitest";
import { listBroken, type RuleTrial } from "../rule-table.ts";
import { sealText } from "../sign.ts";
import { responsesRules } from "./rules.ts";

const user = { role: "user", content: [{ type: "input_text", text: "hi" }] };
const tool = { type: "function", name: "run", parameters: { type: "object", properties: {} } };
const image = { type: "input_image", detail: "auto", image_url: "data:image/png;base64,iVBORw0KGgo=" };

function fields(extra: object, more: Partial<RuleTrial> = {}): RuleTrial {
	return { body: { model: "m", input: [user], stream: true, store: false, ...extra }, ...more };
}

function talk(...input: unknown[]): RuleTrial {
	return fields({ input });
}

function call(id: string, extra: object = {}): object {
	return { type: "function_call", call_id: id, name: "run", arguments: "{}", ...extra };
}

function result(id: string): object {
	return { type: "function_call_output", call_id: id, output: "ok" };
}

function reasoning(id: string, model = "m"): object {
	return { type: "reasoning", id, summary: [], encrypted_content: sealText(model, "hm") };
}

function answer(id = "msg_1"): object {
	const content = [{ type: "output_text", text: "done", annotations: [] }];
	return { type: "message", role: "assistant", id, status: "completed", content };
}

function toolNamed(name: string, parameters: unknown = { type: "object" }): object {
	return { type: "function", name, parameters };
}

const failing: Record<string, RuleTrial[]> = {
	"api-key": [
		fields({}, { options: { apiKey: "right" } }),
		fields({}, { options: { apiKey: "right" }, headers: { authorization: "Bearer wrong" } }),
	],
	"lone-surrogate": [talk({ role: "user", content: "cut \ud83d" })],
	"missing-field": [
		talk({ role: "user" }),
		talk(user, { type: "function_call", call_id: "a", name: "run" }, result("a")),
		talk({ ...reasoning("rs_1"), summary: undefined }, answer()),
		talk({ role: "user", content: [{ type: "input_image", image_url: image.image_url }] }),
	],
	"unknown-field": [
		fields({ messages: [user] }),
		fields({ max_tokens: 100 }),
		talk({ ...user, timestamp: 1 }),
		talk(user, call("a", { index: 0 }), result("a")),
		fields({ tools: [{ ...tool, label: "Run" }] }),
	],
	"wrong-type": [fields({ temperature: "hot" }), fields({ input: 5 }), talk({ role: "user", content: 1 }), talk("hi")],
	"wrong-value": [
		fields({ reasoning: { effort: "huge" } }),
		talk({ role: "user", content: [{ type: "text", text: "hi" }] }),
		fields({ include: ["everything"] }),
		talk({ type: "message", role: "tool", content: "hi" }),
	],
	required: [{ body: { input: [user] } }, { body: { model: "m" } }],
	"unknown-model": [fields({}, { options: { models: ["other"] } })],
	"empty-list": [talk(), fields({ tools: [] }), talk({ role: "user", content: [] })],
	"number-range": [fields({ temperature: 3 }), fields({ max_output_tokens: 1 })],
	"stream-options": [{ body: { model: "m", input: "hi", stream_options: { include_obfuscation: false } } }],
	"tool-name": [fields({ tools: [toolNamed("run it")] }), fields({ tools: [toolNamed("x".repeat(65))] })],
	"duplicate-tool": [fields({ tools: [tool, tool] })],
	"tool-schema": [
		fields({ tools: [toolNamed("run", { type: "string" })] }),
		fields({ tools: [toolNamed("run", { type: "object", properties: { code: { type: "text" } } })] }),
	],
	"tools-required": [fields({ tool_choice: "auto" })],
	"previous-response": [fields({ previous_response_id: "resp_1" })],
	"orphan-result": [talk(result("a")), talk(user, result("a"), user)],
	"missing-result": [talk(user, call("a")), talk(user, call("a"), call("b"), result("b"), user)],
	"duplicate-call": [
		talk(user, call("a"), call("a"), result("a")),
		talk(call("a"), result("a"), call("a"), result("a")),
	],
	"duplicate-result": [talk(call("a"), result("a"), result("a"))],
	"item-id": [
		talk(user, call("a", { id: "call_a" }), result("a")),
		talk(user, answer("resp_1")),
		talk(user, answer(`msg_${"x".repeat(64)}`)),
		talk(reasoning("reason_1"), answer()),
	],
	"duplicate-item": [talk(user, answer("msg_1"), user, answer("msg_1"))],
	"unknown-item": [
		talk({ type: "item_reference", id: "msg_1" }),
		talk({ type: "reasoning", id: "rs_1", summary: [] }, answer()),
	],
	"encrypted-content": [
		talk(reasoning("rs_1", "other"), answer()),
		talk({ ...reasoning("rs_1"), encrypted_content: "made up" }, answer()),
	],
	"lone-reasoning": [talk(user, reasoning("rs_1")), talk(user, reasoning("rs_1"), user)],
	"missing-reasoning": [
		talk(user, call("a", { id: "fc_1-needs-rs_1" }), result("a")),
		talk(user, reasoning("rs_2"), answer("msg_1-needs-rs_1")),
	],
	"call-arguments": [
		talk(call("a", { arguments: '{"code":' }), result("a")),
		talk(call("a", { arguments: "[]" }), result("a")),
	],
	"image-data": [
		talk({ role: "user", content: [{ ...image, image_url: "data:image/png;base64,%" }] }),
		talk(call("a"), { ...result("a"), output: [{ ...image, image_url: "data:image/bmp;base64,AAAA" }] }),
	],
	"context-overflow": [{ ...talk({ role: "user", content: "x".repeat(400) }), options: { contextWindow: 100 } }],
};

const accepted: Record<string, RuleTrial> = {
	"a whole conversation with sealed reasoning, parallel calls and images": fields({
		instructions: "rules",
		tools: [tool],
		tool_choice: "auto",
		reasoning: { effort: "high", summary: "auto" },
		include: ["reasoning.encrypted_content"],
		max_output_tokens: 16,
		input: [
			{ role: "developer", content: "rules" },
			{ role: "user", content: [{ type: "input_text", text: "look" }, image] },
			reasoning("rs_1"),
			call("a", { id: "fc_1-needs-rs_1" }),
			call("b", { id: "fc_2" }),
			{ ...result("b"), output: [{ type: "input_text", text: "ok" }, image] },
			result("a"),
			reasoning("rs_3"),
			answer("msg_4-needs-rs_3"),
			user,
		],
	}),
	"a text as input": fields({ input: "hi" }),
	"the right key, a known model and input that just fits": fields(
		{},
		{ headers: { authorization: "Bearer right" }, options: { apiKey: "right", models: ["m"], contextWindow: 17 } },
	),
};

describe("Responses rules", () => {
	it("have a failing request for each rule, and failing requests for nothing else", () => {
		expect(Object.keys(failing).sort()).toEqual(responsesRules.map((rule) => rule.name).sort());
	});

	for (const [rule, trials] of Object.entries(failing)) {
		it.each(trials.map((trial, index) => [index + 1, trial] as const))(
			`${rule} alone refuses its request %i`,
			(_, trial) => {
				expect(listBroken(responsesRules, trial)).toEqual([rule]);
			},
		);
	}

	it.each(Object.entries(accepted))("accept %s", (_, trial) => {
		expect(listBroken(responsesRules, trial)).toEqual([]);
	});
});
