/** The real client library must accept what the mocks send, and the mocks what the client sends. */

import type { AssistantMessage, Message } from "@earendil-works/pi-ai";
import { describe, expect, it } from "vitest";
import { answerCalls, askServer, CLIENT_CASES, type ClientCase } from "./client-harness.ts";
import { sharedPrefix } from "./prefix.ts";
import { type ReplyOptions, raw, reply, type Step } from "./step.ts";

const user: Message = { role: "user", content: "hi", timestamp: 1 };
const pixel = { type: "image" as const, data: "iVBORw0KGgo=", mimeType: "image/png" };
const full: ReplyOptions = {
	thinking: "考える 😀",
	text: "grüße 👩‍👩‍👧",
	calls: [
		{ name: "run", arguments: { code: "日本 😀" } },
		{ name: "run", arguments: { code: "2" } },
	],
};
const fullContent = [
	{ type: "thinking", thinking: "考える 😀" },
	{ type: "text", text: "grüße 👩‍👩‍👧" },
	{ type: "toolCall", name: "run", arguments: { code: "日本 😀" } },
	{ type: "toolCall", name: "run", arguments: { code: "2" } },
];
const ignore = { ignore: ["cache_control"] };

/** What an answer says, without the empty text that a client may add. */
function says(message: AssistantMessage) {
	return message.content.filter((part) => part.type !== "text" || part.text !== "");
}

describe.each(CLIENT_CASES.map((client) => [client.name, client] as const))(
	"the client library against the %s mock",
	(_, client) => {
		async function askOnce(step: Step): Promise<AssistantMessage> {
			await using server = await client.start();
			server.script(step);
			const message = await askServer(client, server, [user]);
			expect(server.rejections).toEqual([]);
			return message;
		}

		it.each([
			["whole events", {}],
			["single bytes", { split: "byte" }],
			["pieces of 7 bytes", { split: 7 }],
			["CR LF", { crlf: true }],
			["comments between events", { comments: true, split: 5 }],
			["single characters", { chunk: 1 }],
			["a doubled finish", { duplicateFinish: true }],
		] satisfies [string, Partial<ReplyOptions>][])("reads a full reply sent as %s", async (_name, wire) => {
			const message = await askOnce(reply({ ...full, ...wire }));
			expect(message.stopReason).toBe("toolUse");
			expect(says(message)).toMatchObject(fullContent);
		});

		it("reads the usage with cache and reasoning counted once", async () => {
			const usage = { input: 100, output: 30, cacheRead: 60, reasoning: 20 };
			expect((await askOnce(reply({ text: "ok", usage }))).usage).toMatchObject({
				input: 40,
				output: 30,
				cacheRead: 60,
				reasoning: 20,
				totalTokens: 130,
			});
		});

		it.each([
			["no finish reason", reply({ ...full, end: "no-finish" })],
			["a body that just ends", reply({ ...full, end: "cut" })],
			["a cut connection", reply({ ...full, end: "disconnect-after-4-events" })],
			["an error in the stream", reply({ text: "a", errorInStream: { type: "overloaded_error", message: "boom" } })],
			["an HTTP error", raw({ status: 529, body: { error: { message: "slow down" } } })],
		])("reports %s as an error", async (_name, step) => {
			expect(await askOnce(step)).toMatchObject({ stopReason: "error", errorMessage: expect.any(String) });
		});

		it("reports a reply at its length limit as cut", async () => {
			expect((await askOnce(reply({ text: "abc", finish: "length" }))).stopReason).toBe("length");
		});

		it("leaves a silent stream when its signal aborts", async () => {
			await using server = await client.start();
			server.script(reply({ text: "ab", silence: { afterEvents: 2 } }));
			const leave = new AbortController();
			const message = askServer(client, server, [user], { signal: leave.signal });
			await server.waitForRequests(1);
			leave.abort();
			expect((await message).stopReason).toBe("aborted");
		});

		it("sends conversations of several rounds that pass the rules and keep their prefix", async () => {
			await using server = await client.start();
			server.script(
				reply(full),
				reply({ text: "more", calls: [{ name: "run", arguments: {} }] }),
				reply({ thinking: "hm", text: "done" }),
				reply({ text: "bye" }),
			);
			const messages: Message[] = [{ role: "user", content: [{ type: "text", text: "look" }, pixel], timestamp: 1 }];
			for (let round = 0; round < 3; round += 1) {
				const message = await askServer(client, server, messages);
				messages.push(message, ...answerCalls(message));
			}
			messages.push(user);
			expect(says(await askServer(client, server, messages))).toMatchObject([{ type: "text", text: "bye" }]);
			expect(server.rejections).toEqual([]);
			expect(server.requests[1]?.raw).toContain("考える 😀");
			for (const [index, request] of server.requests.slice(1).entries()) {
				expect(sharedPrefix(server.requests[index] ?? request, request, ignore)).toMatchObject({ isPrefix: true });
			}
		});

		it("sends a conversation with another model that passes the rules", async () => {
			await using server = await client.start();
			server.script(reply(full), reply({ text: "done" }));
			const first = await askServer(client, server, [user]);
			// Gemini 3 wants signatures for the running turn, and the client has none for the call of another model.
			const next = client.name === "Gemini" ? [user] : [];
			const messages = [user, first, ...answerCalls(first), ...next];
			const second = await askServer(client, server, messages, { id: `${client.model}-other` });
			expect([second.errorMessage, server.rejections]).toEqual([undefined, []]);
		});

		it.each(CLIENT_CASES.filter((other) => other !== client).map((other) => [other.name, other] as const))(
			"sends a conversation that began with %s and passes the rules",
			async (_name, other: ClientCase) => {
				await using before = await other.start();
				before.script(reply(full));
				const first = await askServer(other, before, [user]);
				await using server = await client.start();
				server.script(reply({ text: "done" }));
				const second = await askServer(client, server, [user, first, ...answerCalls(first), user]);
				expect([second.errorMessage, server.rejections]).toEqual([undefined, []]);
			},
		);

		it("shows the words of a refused request", async () => {
			await using server = await client.start({ contextWindow: 5 });
			const message = await askServer(client, server, [user]);
			expect(message.errorMessage).toMatch(/maximum|context window/);
		});
	},
);

describe("the client library", () => {
	it.each(CLIENT_CASES.filter(({ name }) => name !== "Gemini").map((client) => [client.name, client] as const))(
		"reads the signature of thinking, so that it can go back (%s)",
		async (_, client) => {
			await using server = await client.start();
			server.script(reply({ thinking: "hm", text: "ok" }));
			const { content } = await askServer(client, server, [user]);
			expect(content[0]).toMatchObject({ type: "thinking", thinkingSignature: expect.stringMatching(/./) });
		},
	);

	it.each(CLIENT_CASES.filter(({ name }) => name !== "Gemini").map((client) => [client.name, client] as const))(
		"marks arguments that were cut (%s)",
		async (_, client) => {
			await using server = await client.start();
			server.script(reply({ calls: [{ name: "run", arguments: '{"code":"rm -r' }] }));
			const { content } = await askServer(client, server, [user]);
			expect(content).toMatchObject([{ type: "toolCall", arguments: {}, argumentsError: expect.any(String) }]);
		},
	);

	it.each([
		["interleaved calls", { interleave: true, chunk: 2 }],
		["ids at the end of calls", { lateIds: true }],
		["no end marker", { end: "missing" }],
	] satisfies [string, Partial<ReplyOptions>][])("reads chat completions with %s", async (_, wire) => {
		const [client] = CLIENT_CASES;
		if (!client) throw new Error("the first case is chat completions");
		await using server = await client.start();
		server.script(reply({ ...full, ...wire }));
		expect((await askServer(client, server, [user])).content).toMatchObject(fullContent);
	});

	it("is told that Gemini has no cut arguments", async () => {
		const client = CLIENT_CASES.find(({ name }) => name === "Gemini");
		if (!client) throw new Error("there is a Gemini case");
		await using server = await client.start();
		server.script(reply({ calls: [{ name: "run", arguments: '{"code":' }] }));
		expect((await askServer(client, server, [user])).errorMessage).toContain("Gemini sends whole arguments");
	});
});
