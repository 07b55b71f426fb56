import { describe, expect, it } from "vitest";
import { findFaults, findUnknownFields } from "./faults.ts";

const user = { role: "user", content: "hello" };
const tool = { name: "run", description: "", parameters: { type: "object" } };

describe("what the trial's model server holds foreign clients to", () => {
	it.each([
		["/v1/responses", { input: [user, { type: "function_call_output", call_id: "c" }] }, "result c without a call"],
		["/v1/responses", { input: [user, { type: "custom_tool_call", call_id: "c" }] }, "call c without a result"],
		["/v1/messages", { messages: [user, { role: "assistant", content: [{ type: "tool_use", id: "t" }] }] }, "call t"],
		["/v1/messages", { messages: [{ role: "assistant", content: "x" }] }, "begins with assistant"],
		["/v1/messages", { messages: [user], tools: [{ name: "run" }] }, "object schema"],
		["/v1/chat/completions", { messages: [user, { role: "tool", tool_call_id: "c" }] }, "result c without a call"],
		["/v1/chat/completions", { messages: [{ role: "robot", content: "x" }] }, "unknown speaker robot"],
		[
			"/v1beta/models/m:streamGenerateContent",
			{ contents: [{ role: "user", parts: [{ functionResponse: { name: "f" } }] }] },
			"result f",
		],
	])("%s %j breaks a rule", (path, body, words) => {
		expect(findFaults(path, body).join("; ")).toContain(words);
	});

	it("a paired conversation with a described tool breaks none", () => {
		const body = {
			messages: [
				{ role: "system", content: "s" },
				user,
				{ role: "assistant", tool_calls: [{ id: "a" }, { id: "b" }] },
				{ role: "tool", tool_call_id: "b" },
				{ role: "tool", tool_call_id: "a" },
			],
			tools: [{ type: "function", function: tool }],
		};
		expect(findFaults("/v1/chat/completions", body)).toEqual([]);
	});

	it("fields that are new are told and break nothing", () => {
		const body = { messages: [user], stream: true, novelty: 1 };
		expect(findUnknownFields("/v1/chat/completions", body)).toEqual(["novelty"]);
		expect(findFaults("/v1/chat/completions", body)).toEqual([]);
	});
});
