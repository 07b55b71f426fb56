import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { raw, reply, type ScriptedCall, waitFor } from "@prime-agent/testkit";
import { describe, expect, test } from "vitest";
import { isAlive, makeAgent, type TestAgent } from "./testing/agent.ts";
import { startOnTerminal } from "./testing/terminal.ts";

const shell = (command: string): ScriptedCall => ({ name: "shell", arguments: { command } });
const done = reply({ text: "done" });

async function waitForPid(at: TestAgent, name = "pid"): Promise<number> {
	let pid = 0;
	await waitFor(async () => {
		pid = Number(await at.read(name));
		return pid > 0;
	}, `the file ${name}`);
	return pid;
}

async function expectGone(...pids: number[]): Promise<void> {
	await waitFor(() => pids.every((pid) => !isAlive(pid)), "the processes to be gone");
}

describe.concurrent("the end of a run", () => {
	test("failed and refused tools alone do no harm", async () => {
		await using at = await makeAgent({
			script: [reply({ calls: [{ name: "read_file", arguments: { file_path: "none" } }, shell("true")] }), done],
		});
		expect((await at.run("x")).code).toBe(0);
	});

	test("an answer that is cut keeps its text and fails", async () => {
		await using at = await makeAgent({ script: [reply({ text: "half an", finish: "length" })] });
		const result = await at.run("x");
		expect(result).toMatchObject({ code: 1, stdout: "half an\n" });
		expect(result.stderr).toMatch(/^error: .*output limit.*\nDone \(1 turns/);
	});

	test.each(["anthropic", "openai", "gemini"] as const)("a refusal of %s fails", async (provider) => {
		await using at = await makeAgent({ provider, script: [reply({ text: "no", finish: "refusal" })] });
		const result = await at.run("x", "--provider", provider);
		expect(result.code).toBe(1);
		expect(result.stderr).toMatch(/error: [^\n]+\nDone \(/);
	});

	test("an empty answer after a tool is a success", async () => {
		await using at = await makeAgent({
			script: [reply({ calls: [{ name: "glob", arguments: { pattern: "*" } }] }), reply({})],
		});
		const result = await at.run("x");
		expect(result).toMatchObject({ code: 0, stdout: "" });
	});

	test("a run that never ends is given up after 200 rounds", async () => {
		const step = (index: number) => reply({ calls: [{ name: "glob", arguments: { pattern: `${index}*` } }] });
		await using at = await makeAgent({ script: Array.from({ length: 200 }, (_, index) => step(index)) });
		const result = await at.run("x");
		expect(result.code).toBe(1);
		expect(result.stderr).toMatch(/\nerror: .*limit.*\nDone \(200 turns, 200 tool calls, /);
	});

	test("an error in the middle of the answer keeps the text and is not tried again", async () => {
		const error = { type: "overloaded_error", message: "Overloaded" };
		await using at = await makeAgent({ script: [reply({ text: "some words", errorInStream: error })] });
		const result = await at.run("x");
		expect(result.code).toBe(1);
		expect(result.stdout).toContain("some");
		expect(result.stderr).toMatch(/^error: [^\n]*\nDone \(0 turns/);
	});
});

describe.concurrent("a signal", () => {
	test.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)(
		"%s in the middle of an answer closes the connection and fails",
		async (signal) => {
			const { promise: closed, resolve: noteClosed } = Promise.withResolvers<void>();
			const server = createServer((_request, response) => {
				response.on("close", noteClosed);
				response.writeHead(200, { "content-type": "text/event-stream" });
				const send = (data: { type: string }) =>
					response.write(`event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`);
				const message = {
					id: "m",
					type: "message",
					role: "assistant",
					model: "m",
					content: [],
					usage: { input_tokens: 1, output_tokens: 1 },
				};
				send({ type: "message_start", message } as never);
				send({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } } as never);
				send({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "begun" } } as never);
			});
			await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
			const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
			await using at = await makeAgent({ baseUrl: () => url });
			await using live = at.start("x");
			await live.waitForOutput(/begun/);
			live.kill(signal);
			const result = await live.done;
			await closed;
			server.close();
			expect(result).toMatchObject({ code: 1, signal: null, stdout: "begun\n" });
			expect(result.stderr).toMatch(/^error: .*interrupted.*\nDone \(0 turns, /);
		},
	);

	test("SIGINT during a command ends the command and its children", async () => {
		await using at = await makeAgent({
			script: [reply({ calls: [shell("sleep 600 & echo $! > child; echo $$ > pid; sleep 600")] })],
		});
		await using live = at.start("x", "--permissions", "full");
		const pids = [await waitForPid(at), await waitForPid(at, "child")];
		live.kill("SIGINT");
		const result = await live.done;
		expect(result.code).toBe(1);
		expect(result.stderr).toMatch(/Done \(1 turns, 1 tool calls, [^\n]*\n$/);
		await expectGone(...pids);
	});

	test("SIGINT ends a command that ignores TERM", async () => {
		await using at = await makeAgent({
			script: [reply({ calls: [shell(`trap "" TERM; echo $$ > pid; while true; do sleep 1; done`)] })],
		});
		await using live = at.start("x", "--permissions", "full");
		const pid = await waitForPid(at);
		live.kill("SIGINT");
		expect((await live.done).code).toBe(1);
		await expectGone(pid);
	});

	test("a second SIGINT ends everything at once", async () => {
		await using at = await makeAgent({
			script: [reply({ calls: [shell(`trap "touch termed" TERM; echo $$ > pid; while true; do sleep 0.05; done`)] })],
		});
		await using live = at.start("x", "--permissions", "full");
		const pid = await waitForPid(at);
		live.kill("SIGINT");
		await waitFor(async () => (await at.read("termed")) !== undefined, "the first signal to arrive");
		live.kill("SIGINT");
		const result = await live.done;
		expect(result.code).toBe(1);
		expect(result.stderr).not.toContain("Done (");
		await expectGone(pid);
	});

	test("background processes end with the run", async () => {
		await using at = await makeAgent({
			script: [reply({ calls: [shell("sleep 600 & echo $! > pid")] }), done],
		});
		expect((await at.run("x", "--permissions", "full")).code).toBe(0);
		await expectGone(await waitForPid(at));
	});

	test("SIGINT during the wait for another attempt ends it", async () => {
		await using at = await makeAgent({ script: [raw({ status: 429, headers: { "retry-after": "30" }, body: {} })] });
		await using live = at.start("x");
		await live.waitForOutput(/retry 1 in 30/, { stream: "stderr" });
		live.kill("SIGINT");
		const result = await live.done;
		expect(result.code).toBe(1);
		expect(result.stderr).toMatch(/\nerror: .*interrupted.*\nDone \(0 turns/);
	});

	test("Ctrl-C at a question runs nothing", async () => {
		await using at = await makeAgent({ script: [reply({ calls: [shell("touch made"), shell("touch other")] })] });
		const agent = startOnTerminal(at, "x");
		await agent.waitForQuestion(1);
		agent.type("\u0003");
		expect(await agent.done).toBe(1);
		expect(agent.stderr.match(/Allow\?/g)).toHaveLength(1);
		expect(agent.stderr).toMatch(/Done \(1 turns, [^\n]*\n$/);
		expect([await at.read("made"), await at.read("other")]).toEqual([undefined, undefined]);
	});

	test("Ctrl-C in the middle of an answer ends the run and what earlier commands left behind", async () => {
		await using at = await makeAgent({
			script: [
				reply({ calls: [shell("sleep 600 & echo $! > pid")] }),
				reply({ text: "begun and not ended", chunk: 5, silence: { afterEvents: 4 } }),
			],
		});
		const agent = startOnTerminal(at, "x", "--permissions", "full");
		await waitFor(() => agent.stdout.includes("begun"), "the beginning of the answer", 40_000);
		const pid = await waitForPid(at);
		agent.type("\u0003");
		expect(await agent.done).toBe(1);
		await expectGone(pid);
		expect(agent.stderr).toMatch(/\nerror: .*interrupted.*\nDone \(1 turns, 1 tool calls[^\n]*\n$/);
	});

	test("Ctrl-C in a command does not reach the command past the agent, which ends it", async () => {
		await using at = await makeAgent({
			script: [reply({ calls: [shell(`trap "touch got-int" INT; echo $$ > pid; sleep 600 & wait`)] })],
		});
		const agent = startOnTerminal(at, "x", "--permissions", "full");
		const pid = await waitForPid(at);
		agent.type("\u0003");
		expect(await agent.done).toBe(1);
		await expectGone(pid);
		expect(await at.read("got-int")).toBeUndefined();
	});

	test("a terminal that is closed ends the run", async () => {
		await using at = await makeAgent({ script: [reply({ calls: [shell("echo $$ > pid; sleep 600")] })] });
		const agent = startOnTerminal(at, "x", "--permissions", "full");
		const pid = await waitForPid(at);
		agent.hangUp();
		await agent.done;
		await expectGone(pid);
	});
});
