import { expect, test } from "vitest";
import { listCalls, separateCalls } from "./calls.ts";
import { emptyMessage } from "./faults.ts";
import { call, testModel, text } from "./testing/script.ts";

const separate = (content: Parameters<typeof listCalls>[0]["content"], taken: string[] = [], names = ["echo"]) => {
	const message = { ...emptyMessage(testModel), content };
	const separated = separateCalls(message, [{ ...message, content: taken.map((id) => call(id, "echo")) }], names);
	return { message, separated, ids: listCalls(separated.message).map(({ call: { id } }) => id) };
};

test("a message whose calls are in order stays the very same object", () => {
	const { message, separated } = separate([text("x"), call("a", "echo"), call("b", "echo")]);
	expect(separated.message).toBe(message);
	expect(separated.repeatedCalls.size).toBe(0);
});

test("ids that are empty, doubled or taken are replaced by free ones", () => {
	const { ids } = separate(
		[call("", "echo"), call("a", "echo", { n: 1 }), call("a", "echo", { n: 2 }), call("t", "echo"), call("u", "echo")],
		["t", "t_2", "u_3"],
	);
	expect(ids).toEqual(["call_0", "a", "a_2", "t_3", "u"]);
});

test("ids that a server left out are made up, and of a Responses id only the first half has to be free", () => {
	const missing = { ...call("", "echo"), id: undefined as unknown as string };
	const responses = ["undefined|fc_1", "undefined|fc_2", "t|fc_3", "a|fc_4"].map((id) => call(id, "echo"));
	expect(separate([missing, ...responses], ["t|fc_9"]).ids).toEqual([
		"call_0",
		"call_1|fc_1",
		"call_2|fc_2",
		"t_2|fc_3",
		"a|fc_4",
	]);
});

test("only a call that is the same word for word counts as repeated", () => {
	const { separated } = separate([
		call("a", "echo", { n: 1 }),
		call("a", "echo", { n: 2 }),
		call("a", "echo", { n: 1 }),
		call("b", "echo", { n: 1 }),
	]);
	expect([...separated.repeatedCalls]).toEqual([2]);
});

test("names of declared tools stay, others become names that every server takes", () => {
	const { separated } = separate(
		[call("a", "odd.name"), call("b", "other.name"), call("c", "x".repeat(80))],
		[],
		["odd.name"],
	);
	expect(listCalls(separated.message).map(({ call: { name } }) => name)).toEqual([
		"odd.name",
		"other_name",
		"x".repeat(64),
	]);
});
