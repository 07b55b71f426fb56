import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { reply } from "@prime-agent/testkit";
import { expect, it, vi } from "vitest";
import { FORMATS, setUpFormats } from "./formats-harness.ts";

/** Several processes one after the other: a hang guard, no limit. */
vi.setConfig({ testTimeout: 240_000 });

const ID = "01890000-0000-7000-8000-00000000aaaa";
const TIME = "2025-01-01T00:00:00.000Z";
const COST = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
const USAGE = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, totalTokens: 2, cost: COST };
const FROM = { api: "openai-responses", provider: "responses", model: "gpt-5", usage: USAGE, timestamp: 2 };

const user = (content: unknown) => ({ role: "user", content, timestamp: 1 });
const assistant = (content: unknown[], stopReason = "toolUse") => ({ role: "assistant", content, stopReason, ...FROM });
const call = (id: unknown, args: unknown = { code: "1" }, name = "ipython") => ({
	type: "toolCall",
	id,
	name,
	arguments: args,
});
const result = (toolCallId: string, content: unknown = [{ type: "text", text: "1" }]) => ({
	...{ role: "toolResult", toolCallId, toolName: "ipython", content, isError: false, timestamp: 3 },
});
const text = (value: string) => ({ type: "text", text: value });

/** What crashes, other programs and editors leave in a conversation. */
const MESSAGES: readonly object[] = [
	result("nobody asked"),
	assistant([text("an answer before any question")], "stop"),
	user("first"),
	user("second, without an answer to the first"),
	user(""),
	user([]),
	user([text(""), text("  \n ")]),
	user([text("half a character \ud83d"), { type: "hologram", data: 1 }]),
	assistant([], "stop"),
	assistant([text("")], "stop"),
	assistant([text(" \n")], "stop"),
	assistant([{ type: "thinking", thinking: "unsigned" }], "stop"),
	assistant(
		[{ type: "thinking", thinking: "unsigned", thinkingSignature: "" }, text("said"), { type: "hologram" }],
		"stop",
	),
	assistant([text("calls"), call("one"), call("two"), call("two")]),
	result("two"),
	result("two", [text("a second result")]),
	assistant([call("no result at all")]),
	user("interrupted"),
	assistant([call("late")]),
	user("in between"),
	result("late"),
	assistant([call("empty result")]),
	result("empty result", []),
	assistant([call("blank result")]),
	result("blank result", [text("")]),
	assistant([call("odd result")]),
	result("odd result", "just a text"),
	assistant([
		call(`long ${"x".repeat(200)}`),
		call("späces & signs|fc_1!"),
		call("no arguments", null),
		call("text", '{"code":'),
	]),
	assistant([call("list", [1, 2]), call("name", {}, "mcp.tool/ü"), call("surrogate", { code: "\udc00" })]),
	assistant([call(undefined), call("")]),
	assistant([text("cut off"), call("never ran")], "error"),
	assistant([text("stopped"), call("never ran either")], "aborted"),
	{ role: "bashExecution", command: "ls", output: "a", exitCode: 0, timestamp: 4 },
	{ role: "unheard of", content: "?" },
	{},
];

function sessionText(cwd: string): string {
	const header = { type: "session", version: 3, id: ID, timestamp: TIME, cwd };
	const entries = MESSAGES.map((message, index) => {
		const id = (index + 1).toString(16).padStart(8, "0");
		return {
			type: "message",
			id,
			parentId: index === 0 ? null : index.toString(16).padStart(8, "0"),
			timestamp: TIME,
			message,
		};
	});
	return [header, ...entries].map((line) => `${JSON.stringify(line)}\n`).join("");
}

it("makes a request that every server takes out of a conversation that is broken in every way", async () => {
	const cli = await setUpFormats();
	const folder = join(cli.agentFolder, "sessions");
	await mkdir(folder);
	const before = sessionText(cli.cwd);
	await writeFile(join(folder, `${ID}.jsonl`), before);
	for (const format of FORMATS) {
		cli.servers[format].script(
			reply({ thinking: "mended", text: "It goes on.", calls: [{ name: "ipython", arguments: { code: "1" } }] }),
			reply({ text: "Done." }),
		);
		const result = await cli.run(["-p", "--continue", "--model", cli.modelOf(format), `and now, ${format}?`]);
		expect({ format, ...result }).toMatchObject({ format, code: 0, stdout: "Done.\n", stderr: "" });
		for (const kept of ["first", "second, without", "interrupted", "cut off", "stopped", "half a character"]) {
			expect(cli.servers[format].modelRequests[0]!.raw).toContain(kept);
		}
		cli.expectPrefixes(format);
	}
	cli.expectAccepted();
	expect((await readFile(join(folder, `${ID}.jsonl`), "utf8")).startsWith(before)).toBe(true);
});
