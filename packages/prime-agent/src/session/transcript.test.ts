import type { AssistantMessage, Message, StopReason, ToolResultMessage } from "@earendil-works/pi-ai";
import { findPairingFault } from "@prime-agent/testkit";
import { expect, test } from "vitest";
import { GrowingTranscript, repairTranscript } from "./transcript.ts";

const TARGET = { api: "openai-completions", provider: "acme", id: "one", input: ["text" as const] };
const OTHER = { ...TARGET, id: "two" };
const USAGE: AssistantMessage["usage"] = {
	input: 0,
	output: 0,
	cacheRead: 0,
	cacheWrite: 0,
	totalTokens: 0,
	cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
};

const user = (text: string): Message => ({ role: "user", content: text, timestamp: 1 });

function assistant(content: AssistantMessage["content"], stopReason: StopReason = "stop"): AssistantMessage {
	return {
		role: "assistant",
		content,
		api: TARGET.api,
		provider: TARGET.provider,
		model: TARGET.id,
		usage: USAGE,
		stopReason,
		timestamp: 2,
	};
}

const call = (id: string) => ({ type: "toolCall" as const, id, name: "ipython", arguments: { code: "1" } });
const text = (value: string) => ({ type: "text" as const, text: value });

function result(id: string, value = "1"): ToolResultMessage {
	return {
		role: "toolResult",
		toolCallId: id,
		toolName: "ipython",
		content: [text(value)],
		isError: false,
		timestamp: 3,
	};
}

/** Roles with what identifies each message. */
function outline(messages: readonly Message[]): string[] {
	return messages.map((message) => {
		if (message.role === "toolResult") return `result ${message.toolCallId}${message.isError ? " (error)" : ""}`;
		if (message.role !== "assistant") return message.role;
		return `assistant ${message.content.map((block) => (block.type === "toolCall" ? block.id : block.type)).join(",")}`;
	});
}

test("a valid transcript comes out as it is", () => {
	const messages = [
		user("go"),
		assistant([text("ok"), call("a"), call("b")], "toolUse"),
		result("a"),
		result("b"),
		assistant([text("done")]),
	];
	expect(repairTranscript(messages, TARGET)).toEqual(messages);
});

test("a call without a result gets one that says it was interrupted, directly after it", () => {
	const repaired = repairTranscript(
		[user("go"), assistant([call("a"), call("b")], "toolUse"), result("b"), user("so?")],
		TARGET,
	);
	expect(outline(repaired)).toEqual(["user", "assistant a,b", "result a (error)", "result b", "user"]);
	expect(findPairingFault(repaired)).toBeUndefined();
});

test("results without a call and second results for one call are dropped", () => {
	const repaired = repairTranscript(
		[
			result("x"),
			user("go"),
			assistant([call("a")], "toolUse"),
			result("a", "first"),
			result("a", "second"),
			result("y"),
		],
		TARGET,
	);
	expect(outline(repaired)).toEqual(["user", "assistant a", "result a"]);
	expect(repaired.at(-1)).toMatchObject({ content: [{ text: "first" }] });
});

test("a result that came after something else the user said still answers its call", () => {
	const repaired = repairTranscript([user("go"), assistant([call("a")], "toolUse"), user("wait"), result("a")], TARGET);
	expect(outline(repaired)).toEqual(["user", "assistant a", "result a", "user"]);
});

test("a result of megabytes goes to the model with its beginning and its end (S07)", () => {
	const [, , cut] = repairTranscript(
		[user("go"), assistant([call("a")], "toolUse"), result("a", `first ${"x".repeat(12_000_000)} last`)],
		TARGET,
	);
	const [block] = (cut as ToolResultMessage).content;
	const shown = (block as { text: string }).text;
	expect(shown.length).toBeLessThan(110_000);
	expect(shown).toMatch(/^first x+\n\[… \d+ characters cut …\]\nx+ last$/);
});

test("a conversation whose lines were lost begins with a person and takes turns", () => {
	const repaired = repairTranscript([assistant([text("a")]), assistant([text("b")]), user("go")], TARGET);
	expect(outline(repaired)).toEqual(["user", "assistant text", "user", "assistant text", "user"]);
});

test("blank texts are left out, and a result without any says so", () => {
	const repaired = repairTranscript(
		[
			user(" \n"),
			{ ...user("x"), content: [text(""), text("go")] } as Message,
			assistant([text(" "), call("a")], "toolUse"),
			result("a", " "),
		],
		TARGET,
	);
	expect(repaired.map((message) => message.content)).toEqual([[text("go")], [call("a")], [text("(no output)")]]);
});

test("ids and names of calls that servers refuse are replaced, in the results as well", () => {
	const odd = { ...call("späces|fc_1"), name: "mcp.tool/ü" };
	const long = call("x".repeat(90));
	const repaired = repairTranscript(
		[user("go"), assistant([odd, long], "toolUse"), result("späces|fc_1"), result(long.id)],
		TARGET,
	);
	const [, , first, second] = repaired;
	expect(outline(repaired)[1]).toBe(`assistant sp_ces|fc_1,${"x".repeat(64)}`);
	expect(first).toMatchObject({ toolCallId: "sp_ces|fc_1", toolName: "mcp_tool__", isError: false });
	expect(second).toMatchObject({ toolCallId: "x".repeat(64), toolName: "ipython", isError: false });
});

test("calls whose ids a server left out get ids of their own, as do their results", () => {
	const repaired = repairTranscript(
		[
			user("go"),
			assistant([call("undefined|fc_1"), call("undefined|fc_2")], "toolUse"),
			result("undefined|fc_1"),
			result("undefined|fc_2"),
		],
		TARGET,
	);
	expect(outline(repaired)).toEqual([
		"user",
		"assistant call|fc_1,call_2|fc_2",
		"result call|fc_1",
		"result call_2|fc_2",
	]);
});

test("the same call id in two replies is answered by the result behind each, under ids of their own", () => {
	const repaired = repairTranscript(
		[
			user("go"),
			assistant([call("a")], "toolUse"),
			result("a", "1"),
			assistant([call("a")], "toolUse"),
			result("a", "2"),
		],
		TARGET,
	);
	expect(outline(repaired)).toEqual(["user", "assistant a", "result a", "assistant a_2", "result a_2"]);
	expect(repaired.at(-1)).toMatchObject({ content: [text("2")] });
});

test.each(["error", "aborted"] as const)(
	"a reply that ended with %s keeps its text as a finished one and loses its calls",
	(stop) => {
		const broken = {
			...assistant([{ type: "thinking", thinking: "hm", thinkingSignature: "s" }, text("so far"), call("a")], stop),
			errorMessage: "x",
		};
		const repaired = repairTranscript([user("go"), broken, result("a")], TARGET);
		expect(outline(repaired)).toEqual(["user", "assistant text"]);
		expect(repaired[1]).toMatchObject({ stopReason: "stop" });
		expect(repaired[1]).not.toHaveProperty("errorMessage");
	},
);

test("a broken reply that showed nothing disappears", () => {
	expect(outline(repairTranscript([user("go"), assistant([call("a")], "aborted"), user("again")], TARGET))).toEqual([
		"user",
		"user",
	]);
});

test("thinking goes back to the model that signed it and to no other (P19)", () => {
	const signed = { type: "thinking" as const, thinking: "hm", thinkingSignature: "s" };
	const unsigned = { type: "thinking" as const, thinking: "hm" };
	const messages = [user("go"), assistant([signed, unsigned, text("ok")])];
	expect(outline(repairTranscript(messages, TARGET))).toEqual(["user", "assistant thinking,text"]);
	expect(outline(repairTranscript(messages, OTHER))).toEqual(["user", "assistant text"]);
});

test("another model gets no signatures of the one before", () => {
	const signedCall = { ...call("a"), thoughtSignature: "t" };
	const messages = [user("go"), assistant([{ ...text("ok"), textSignature: "x" }, signedCall], "toolUse"), result("a")];
	expect(JSON.stringify(repairTranscript(messages, OTHER))).not.toMatch(/Signature/);
});

test("texts of megabytes in a call's arguments go to a model shortened, the rest of the arguments as it was", () => {
	const code = `begin ${"x".repeat(2_000_000)} end`;
	const huge = { ...call("a"), arguments: { code, cells: [1, { more: code, none: null }], empty: [] } };
	for (const target of [TARGET, OTHER]) {
		const [, reply] = repairTranscript([user("go"), assistant([huge], "toolUse"), result("a")], target);
		const [block] = (reply as AssistantMessage).content;
		const args = (block as typeof huge).arguments;
		expect(JSON.stringify(args).length).toBeLessThan(201_000);
		expect(args.code).toMatch(/^begin x[\s\S]*x end$/);
		expect(args).toEqual({ code: args.code, cells: [1, { more: args.code, none: null }], empty: [] });
	}
});

test("a call that its server signed goes back to it whole, because the signature covers its arguments", () => {
	const signed = { ...call("a"), arguments: { code: "x".repeat(200_000) }, thoughtSignature: "t" };
	const messages = [user("go"), assistant([signed], "toolUse"), result("a")];
	expect((repairTranscript(messages, TARGET)[1] as AssistantMessage).content).toEqual([signed]);
});

test("an image becomes a sentence for a model without eyes and stays for one that sees", () => {
	const picture: Message = {
		role: "user",
		content: [text("look"), { type: "image", data: "AA==", mimeType: "image/png" }],
		timestamp: 1,
	};
	const blind = repairTranscript([picture], TARGET)[0] as { content: { type: string }[] };
	expect(blind.content.map((block) => block.type)).toEqual(["text", "text"]);
	expect(repairTranscript([picture], { ...TARGET, input: ["text", "image"] })).toEqual([picture]);
});

/** Calls `check` with conversations of all kinds of messages, sound or not. */
function inManyWorlds(check: (messages: Message[], random: () => number) => void): void {
	let seed = 7;
	const random = () => {
		seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
		return seed / 2 ** 32;
	};
	const makers: (() => Message)[] = [
		() => user("u"),
		() => assistant([{ type: "thinking", thinking: "hm", thinkingSignature: "s" }, text("t")]),
		() => assistant([call(`c${Math.floor(random() * 4)}`), call(`c${Math.floor(random() * 4)}`)], "toolUse"),
		() => assistant([text("t"), call(`c${Math.floor(random() * 4)}`)], random() < 0.5 ? "aborted" : "length"),
		() => result(`c${Math.floor(random() * 4)}`),
	];
	for (let world = 0; world < 300; world++) {
		check(
			Array.from({ length: 12 }, () => makers[Math.floor(random() * makers.length)]!()),
			random,
		);
	}
}

test("whatever happened, each prefix of a transcript is repaired to the same beginning, and calls stay paired", () => {
	inManyWorlds((messages) => {
		const whole = repairTranscript(messages, TARGET);
		expect(findPairingFault([user("u"), ...whole]), JSON.stringify(outline(messages))).toBeUndefined();
		const lastReply = messages.findLastIndex((message) => message.role === "assistant");
		if (lastReply < 1) return;
		// What stands before the last reply can no longer change.
		const before = repairTranscript(messages.slice(0, lastReply), TARGET);
		expect(whole.slice(0, before.length)).toEqual(before);
	});
});

test("whatever happened, a transcript that grows, shrinks, changes or goes to another model is as one made anew", () => {
	inManyWorlds((messages, random) => {
		const growing = new GrowingTranscript();
		for (let step = 1; step <= messages.length; step++) {
			const target = random() < 0.1 ? OTHER : TARGET;
			const dice = random();
			const asked = messages.slice(dice < 0.1 ? Math.floor(step / 2) : 0, dice > 0.9 ? Math.floor(step / 2) : step);
			expect(growing.repair(asked, target)).toEqual(repairTranscript(asked, target));
		}
	});
});

test("what stands before the last reply is not made again", () => {
	const growing = new GrowingTranscript();
	const messages = [user("go"), assistant([call("a")], "toolUse"), result("a"), assistant([call("b")], "toolUse")];
	const first = growing.repair(messages, TARGET);
	first.length = 0;
	const second = growing.repair([...messages, result("b")], TARGET);
	const third = growing.repair([...messages, result("b"), assistant([text("done")])], TARGET);
	expect(third[2]).toBe(second[2]);
	expect(outline(third)).toEqual(["user", "assistant a", "result a", "assistant b", "result b", "assistant text"]);
});
