import { describe, expect, it } from "vitest";
import { collectTypes } from "../declarations/collect.ts";
import { readSdkDeclarations } from "../declarations/sources.ts";
import { listBroken, type RuleTrial } from "../rule-table.ts";
import { GEMINI_REQUEST, geminiRules } from "./rules.ts";
import { signCall, signText } from "./signature.ts";

const path = "/v1beta/models/gemini-2.5-pro:streamGenerateContent";
const path3 = "/v1beta/models/gemini-3-pro:streamGenerateContent";
const user = { role: "user", parts: [{ text: "hi" }] };
const done = { role: "model", parts: [{ text: "done" }] };
const tool = { name: "run", parametersJsonSchema: { type: "object", properties: {} } };

function fields(extra: object, more: Partial<RuleTrial> = {}): RuleTrial {
	return { body: { contents: [user], ...extra }, path, ...more };
}

function talk(...contents: unknown[]): RuleTrial {
	return fields({ contents });
}

function call(name: string, extra: object = {}): object {
	return { functionCall: { name, args: {}, ...extra } };
}

function result(name: string, extra: object = {}): object {
	return { functionResponse: { name, response: { output: "ok" }, ...extra } };
}

function asks(...parts: object[]): object {
	return { role: "model", parts };
}

function gives(...parts: object[]): object {
	return { role: "user", parts };
}

function declare(...functionDeclarations: object[]): RuleTrial {
	return fields({ tools: [{ functionDeclarations }] });
}

const failing: Record<string, RuleTrial[]> = {
	"api-key": [
		fields({}, { options: { apiKey: "right" } }),
		fields({}, { options: { apiKey: "right" }, headers: { "x-goog-api-key": "wrong" } }),
	],
	"lone-surrogate": [talk(gives({ text: "cut \ud83d" }))],
	"missing-field": [{ body: {}, path }],
	"unknown-field": [
		fields({ messages: [] }),
		talk({ ...user, timestamp: 1 }),
		talk(gives({ text: "hi", type: "text" })),
		talk(user, asks(call("run", { arguments: "{}" })), gives(result("run"))),
		declare({ ...tool, input_schema: {} }),
		fields({ generationConfig: { max_tokens: 5 } }),
	],
	"wrong-type": [
		fields({ contents: "hi" }),
		talk(gives({ text: 1 })),
		talk(user, asks(call("run", { args: "{}" })), gives(result("run"))),
	],
	"wrong-value": [
		fields({ toolConfig: { functionCallingConfig: { mode: "MAYBE" } } }),
		fields({ generationConfig: { thinkingConfig: { thinkingLevel: "HUGE" } } }),
	],
	"unknown-model": [fields({}, { options: { models: ["other"] } })],
	"no-contents": [talk()],
	role: [talk({ role: "assistant", parts: [{ text: "hi" }] })],
	"last-role": [talk(user, done)],
	"empty-parts": [talk({ role: "user", parts: [] }), talk({ role: "user" })],
	"empty-part": [talk(gives({ thought: true }))],
	"number-range": [
		fields({ generationConfig: { temperature: 3 } }),
		fields({ generationConfig: { topP: 2 } }),
		fields({ generationConfig: { maxOutputTokens: 0 } }),
	],
	"tool-name": [
		declare({ ...tool, name: "1run" }),
		declare({ ...tool, name: "x".repeat(65) }),
		declare({ description: "no name" }),
	],
	"duplicate-tool": [declare(tool, tool)],
	"tool-schema": [
		declare({ name: "run", parametersJsonSchema: { type: "string" } }),
		declare({ name: "run", parametersJsonSchema: { type: "object", required: "code" } }),
	],
	"call-order": [
		talk(asks(call("run")), gives(result("run"))),
		talk(user, done, asks(call("run")), gives(result("run"))),
	],
	"response-order": [
		talk(gives(result("run"))),
		talk(user, asks(call("run")), gives(result("run")), gives(result("run"))),
	],
	"response-count": [
		talk(user, asks(call("run"))),
		talk(user, asks(call("run")), user),
		talk(user, asks(call("run"), call("run")), gives(result("run"))),
		talk(user, asks(call("run")), gives(result("run"), result("run"))),
	],
	"response-match": [
		talk(user, asks(call("run")), gives(result("walk"))),
		talk(user, asks(call("run", { id: "a" })), gives(result("run", { id: "b" }))),
	],
	"missing-signature": [{ ...talk(user, asks(call("run")), gives(result("run"))), path: path3 }],
	"invalid-signature": [
		talk(user, asks({ ...call("run"), thoughtSignature: "bWFkZSB1cA==" }), gives(result("run"))),
		talk(user, asks({ text: "a", thoughtSignature: signText("gemini-3-pro") }), user),
	],
	"image-data": [
		talk(gives({ inlineData: { mimeType: "image/png", data: "%" } })),
		talk(
			user,
			asks(call("run")),
			gives(result("run", { parts: [{ inlineData: { mimeType: "image/png", data: "%" } }] })),
		),
	],
	"context-overflow": [{ ...talk(gives({ text: "x".repeat(400) })), options: { contextWindow: 100 } }],
};

const accepted: Record<string, RuleTrial> = {
	"a whole conversation with thinking, parallel calls, images and settings": {
		path: path3,
		body: {
			systemInstruction: { role: "user", parts: [{ text: "rules" }] },
			tools: [{ functionDeclarations: [tool] }],
			toolConfig: { functionCallingConfig: { mode: "AUTO" } },
			generationConfig: { temperature: 1, maxOutputTokens: 100, thinkingConfig: { includeThoughts: true } },
			contents: [
				gives({ text: "look" }, { inlineData: { mimeType: "image/png", data: "iVBORw0KGgo=" } }),
				asks(
					{ text: "hm", thought: true },
					{ ...call("run"), thoughtSignature: signCall("gemini-3-pro", { name: "run", args: {} }) },
					call("walk"),
				),
				gives(result("run"), result("walk")),
				asks({ text: "done", thoughtSignature: signText("gemini-3-pro") }),
				user,
			],
		},
	},
	"a call of an earlier turn without signature, and a stand-in for the one that is missing": {
		path: path3,
		body: {
			contents: [
				user,
				asks(call("run")),
				gives(result("run")),
				user,
				asks({ ...call("run"), thoughtSignature: "skip_thought_signature_validator" }),
				gives(result("run")),
			],
		},
	},
	"the right key, a known model and contents that just fit": fields(
		{},
		{
			headers: { "x-goog-api-key": "right" },
			options: { apiKey: "right", models: ["gemini-2.5-pro"], contextWindow: 11 },
		},
	),
};

describe("Gemini rules", () => {
	it("have a failing request for each rule, and failing requests for nothing else", () => {
		expect(Object.keys(failing).sort()).toEqual(geminiRules.map((rule) => rule.name).sort());
	});

	for (const [rule, trials] of Object.entries(failing)) {
		it.each(trials.map((trial, index) => [index + 1, trial] as const))(
			`${rule} alone refuses its request %i`,
			(_, trial) => {
				expect(listBroken(geminiRules, trial)).toEqual([rule]);
			},
		);
	}

	it.each(Object.entries(accepted))("accept %s", (_, trial) => {
		expect(listBroken(geminiRules, trial)).toEqual([]);
	});

	it("name the fields of a request as the SDK names its options", () => {
		const sdk = collectTypes(readSdkDeclarations("gemini"), ["GenerateContentParameters", "GenerateContentConfig"]);
		const known = [sdk.GenerateContentParameters, sdk.GenerateContentConfig].flatMap((type) => Object.keys(type ?? {}));
		const wireOnly = ["generationConfig?"];
		expect(Object.keys(GEMINI_REQUEST).filter((field) => !known.includes(field))).toEqual(wireOnly);
	});
});
