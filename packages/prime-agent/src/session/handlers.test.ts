import { reply } from "@prime-agent/testkit";
import { expect, test, vi } from "vitest";
import { goal } from "../features/goal/feature.ts";
import { getState } from "../protocol/session-operations.ts";
import { openBench } from "./testing/harness.ts";

test.each([
	["/gaol Ship it", 'Unknown command "/gaol". Did you mean "/goal"? Known commands: /goal.'],
	["/nope", 'Unknown command "/nope". Known commands: /goal.'],
	["  /nope:x\nand more", 'Unknown command "/nope:x".'],
])("a slip in a command is an error and asks no model: %j", async (text, message) => {
	const bench = openBench({ features: [goal], steps: [reply({ text: "hi" })] });
	await expect(bench.say(text)).rejects.toThrow(message);
	expect({ calls: bench.model.calls.length, entries: bench.log.length }).toEqual({ calls: 0, entries: 0 });
});

test.each([["/etc/hosts is what?"], ["/Users"], ["/"], ["// a comment"], ["what does /nope do?"]])(
	"a text that only begins like a command is a prompt: %j",
	async (text) => {
		const bench = openBench({ features: [goal], steps: [reply({ text: "hi" })] });
		expect(await bench.say(text)).toMatchObject({ stage: "completed" });
		expect(bench.spoken()).toEqual([`user: ${text}`, "assistant: hi"]);
	},
);

test("a mistake inside of an operation is reported as a fault with the error itself, besides failing the call", async () => {
	const onFault = vi.fn();
	const bench = openBench({ onFault });
	const broken = new TypeError("x is not a function");
	vi.spyOn(bench.log, "file", "get").mockImplementation(() => {
		throw broken;
	});
	await expect(bench.session.call(getState.name, {}, "client")).rejects.toBe(broken);
	expect(onFault.mock.calls).toEqual([["session", getState.name, broken]]);
	expect(bench.events).toContainEqual({
		type: "feature_error",
		feature: "session",
		during: getState.name,
		error: broken.message,
	});
});

test("a refusal of an operation is no fault", async () => {
	const onFault = vi.fn();
	const bench = openBench({ onFault });
	await expect(bench.session.call("no.such", {}, "client")).rejects.toThrow("no operation");
	await expect(bench.say("/nope")).rejects.toThrow("Unknown command");
	expect(onFault).not.toHaveBeenCalled();
});
