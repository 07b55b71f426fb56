import { raw, reply } from "@prime-agent/testkit";
import { expect, it } from "vitest";
import { setUpCli } from "./cli-harness.ts";

const cell = (code: string, input = 1_000) =>
	reply({ calls: [{ name: "ipython", arguments: { code } }], usage: { input, output: 50 } });
const done = reply({ text: "done" });

const typesOf = (lines: string) =>
	lines
		.trimEnd()
		.split("\n")
		.map((line) => JSON.parse(line) as Record<string, unknown>);

it("answers a refusal of a request that is too long with a summary, keeps the variables, and gets the answer", async () => {
	const { run, server } = await setUpCli({ server: { contextWindow: 4_000 } });
	server.script(
		cell("kept = 41\nprint('a' * 5000)"),
		cell("print('b' * 9000)"),
		reply({ text: "NOTES of what was done" }),
		cell("print(kept + 1)"),
		done,
	);
	expect(await run(["-p", "count what is there"])).toMatchObject({ code: 0, stdout: "done\n" });
	expect(server.rejections.map(({ rule }) => rule)).toEqual(["context-overflow"]);
	const messages = server.modelRequests.at(-1)!.body.messages as { role: string; content: unknown }[];
	expect(messages[0]).toEqual(server.modelRequests[0]!.body.messages[0]);
	expect(messages[1]?.content).toMatch(/NOTES of what was done[\s\S]*word for word:\ncount what is there/);
	expect(messages.at(-1)?.content).toContain("42");
	expect(server.remaining).toBe(0);
});

it("works on to the end when the context is compacted between two turns, and says so in its JSON lines (C05)", async () => {
	const { run, server } = await setUpCli();
	server.script(cell("1"), cell("2", 190_000), reply({ text: "NOTES" }), cell("3"), done);
	const { code, stdout } = await run(["-p", "--mode", "json", "go"]);
	const lines = typesOf(stdout);
	expect({ code, rejections: server.rejections, left: server.remaining }).toEqual({ code: 0, rejections: [], left: 0 });
	expect(lines.find(({ type }) => type === "compaction_end")).toMatchObject({ reason: "threshold", aborted: false });
	expect(lines.filter(({ type }) => type === "agent_end")).toHaveLength(1);
	expect(lines.at(-1)).toMatchObject({ type: "agent_end" });
	const summarised = server.modelRequests[2]!.body;
	expect(summarised.tools).toBeUndefined();
});

it("goes on from a compacted session with the summary, and with nothing that it replaced", async () => {
	const { run, server } = await setUpCli();
	server.script(cell("'first cell'"), cell("2", 190_000), reply({ text: "NOTES" }), done, reply({ text: "again" }));
	await run(["-p", "go"]);
	expect(await run(["-p", "--continue", "more"])).toMatchObject({ code: 0, stdout: "again\n" });
	const [before, after] = server.modelRequests.slice(-2);
	expect(after!.body.messages.slice(0, before!.body.messages.length)).toEqual(before!.body.messages);
	expect(after!.raw).toContain("NOTES");
	expect(after!.raw).not.toContain("first cell");
});

it("asks an overloaded server again after the wait that it names, and prints one answer", async () => {
	const { run, server } = await setUpCli();
	const busy = { status: 529, headers: { "retry-after-ms": "20" }, body: { error: { message: "overloaded" } } };
	server.script(raw(busy), raw({ ...busy, status: 429, headers: { "retry-after": "0" } }), done);
	const { code, stdout } = await run(["-p", "--mode", "json", "go"]);
	expect(code).toBe(0);
	const lines = typesOf(stdout);
	expect(lines.filter(({ type }) => type === "auto_retry_start")).toMatchObject([
		{ attempt: 1, maxAttempts: 3, delayMs: 20 },
		{ attempt: 2, maxAttempts: 3, delayMs: 0 },
	]);
	expect(lines.find(({ type }) => type === "auto_retry_end")).toMatchObject({ success: true, attempt: 2 });
	expect(server.modelRequests[2]!.raw).toBe(server.modelRequests[0]!.raw);
});

it("never runs a cell of a reply that broke off, and runs it once when the reply comes whole", async () => {
	const { run, server } = await setUpCli();
	const code = "open('ran', 'a').write('x')";
	const call = { calls: [{ id: "call_a", name: "ipython", arguments: { code } }], text: "I write." };
	server.script(
		reply({ ...call, errorInStream: { message: "overloaded" } }),
		reply(call),
		cell("print(open('ran').read())"),
		done,
	);
	expect(await run(["-p", "go"])).toMatchObject({ code: 0, stdout: "done\n" });
	const results = server.modelRequests.at(-1)!.body.messages.filter(({ role }: { role: string }) => role === "tool");
	expect(results.map(({ content }: { content: string }) => content.trim())).toEqual(["1", "x"]);
});

it.each([402, 403, 400])(
	"gives up at once on a bill that is not paid, with the server's words (%d) (P27)",
	async (status) => {
		const { run, server } = await setUpCli();
		const message = "Your credit balance is too low to access the API.";
		server.script(raw({ status, body: { error: { message, type: "billing_error" } } }));
		const result = await run(["-p", "go"]);
		expect(result).toMatchObject({ code: 1, stdout: "" });
		expect(result.stderr).toContain("credit balance is too low");
		expect(server.modelRequests).toHaveLength(1);
	},
);
