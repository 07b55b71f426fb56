import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { reply, type ScriptedCall } from "@prime-agent/testkit";
import { describe, expect, test } from "vitest";
import { type ProviderName, providerNames } from "../profiles/models.ts";
import { echo, openWire, type WireOptions } from "../testing/wire.ts";

const done = reply({ text: "done" });
const call = (name: string, args: object): ScriptedCall => ({ name, arguments: args });

/** An edit in the way that a provider's models do it. */
function edit(provider: ProviderName, path: string, from: string, to: string): ScriptedCall {
	if (provider !== "openai") return call("edit_file", { file_path: path, old_string: from, new_string: to });
	const patch = `*** Begin Patch\n*** Update File: ${path}\n@@\n-${from}\n+${to}\n*** End Patch`;
	return call("apply_patch", { patch });
}

async function runCalls(
	provider: ProviderName,
	turns: ScriptedCall[][],
	options: WireOptions & { files?: Record<string, string> } = {},
) {
	const at = await openWire(provider, [...turns.map((calls) => reply({ calls })), done], options);
	for (const [name, content] of Object.entries(options.files ?? {}))
		await writeFile(join(at.folder.path, name), content);
	const end = await at.run();
	const outputs = at.events.flatMap((event) =>
		event.type === "tool_execution_end"
			? [{ isError: event.isError, output: (event.result.details as { output: string }).output }]
			: [],
	);
	return {
		end,
		outputs,
		rejections: at.server.rejections,
		lastRequest: at.server.modelRequests.at(-1)?.raw ?? "",
		read: (name: string) => readFile(join(at.folder.path, name), "utf8"),
		[Symbol.asyncDispose]: () => at[Symbol.asyncDispose](),
	};
}

describe.each(providerNames)("a session with %s", (provider) => {
	test("sends what it sent before byte for byte, apart from cache markers, also after a failed call", async () => {
		const steps = ["a", "fail", "c", "d"].map((text) => reply({ calls: [echo(text)] }));
		await using at = await openWire(provider, [...steps, done]);
		await at.run();
		const strip = (value: unknown) => JSON.stringify(value, (key, one) => (key === "cache_control" ? undefined : one));
		const list = { anthropic: "messages", openai: "input", gemini: "contents" }[provider];
		for (let index = 1; index < 5; index++) {
			const [{ [list]: before, ...first }, { [list]: after, ...second }] = [at.body(index - 1), at.body(index)];
			expect(strip(second)).toBe(strip(first));
			expect(after.length).toBeGreaterThan(before.length);
			expect(strip(after).startsWith(strip(before).slice(0, -1))).toBe(true);
		}
	});

	test("creates, reads and edits files in the provider's own way", async () => {
		await using run = await runCalls(provider, [
			[
				call("write_file", { file_path: "a.txt", content: "one\ntwo\n" }),
				call("write_file", { file_path: "b.txt", content: "three\n" }),
			],
			[call("read_file", { file_path: "a.txt" })],
			[edit(provider, "a.txt", "two", "2"), edit(provider, "b.txt", "three", "3")],
		]);
		expect(run.end).toEqual({ reason: "stop" });
		expect(run.outputs.map((result) => result.isError)).toEqual([false, false, false, false, false]);
		expect([await run.read("a.txt"), await run.read("b.txt")]).toEqual(["one\n2\n", "3\n"]);
		expect(run.rejections).toEqual([]);
	});

	test("runs commands, also one that takes too long, and goes on after a failure", async () => {
		await using run = await runCalls(provider, [
			[call("shell", { command: "echo from the shell" })],
			[call("shell", { command: "sleep 600", timeout_ms: 100 })],
			[call("read_file", { file_path: "none" })],
		]);
		expect(run.end).toEqual({ reason: "stop" });
		expect(run.outputs).toEqual([
			{ isError: false, output: expect.stringContaining("from the shell") },
			{ isError: true, output: expect.stringContaining("timed out after 100ms") },
			{ isError: true, output: expect.stringContaining("not found") },
		]);
	});

	test("searches, and several calls of one reply are answered in order", async () => {
		await using run = await runCalls(
			provider,
			[
				[
					call("grep", { pattern: "need" }),
					call("glob", { pattern: "*.txt" }),
					call("read_file", { file_path: "a.txt" }),
				],
			],
			{ files: { "a.txt": "needle\n" } },
		);
		expect(run.end).toEqual({ reason: "stop" });
		expect(run.outputs.map((result) => result.output).sort()).toEqual(["1 | needle", "a.txt", "a.txt:1:needle"]);
		const places = ["a.txt:1:needle", "1 | needle"].map((text) => run.lastRequest.indexOf(text));
		expect(places[0]).toBeGreaterThan(0);
		expect(places[1]).toBeGreaterThan(places[0]!);
	});

	test("cuts what is too long for the model and keeps it in the event", async () => {
		await using run = await runCalls(provider, [[call("read_file", { file_path: "long.txt" })]], {
			files: { "long.txt": "x".repeat(100_000) },
		});
		expect(run.outputs[0]?.output.length).toBeGreaterThan(100_000);
		expect(run.lastRequest).toContain("characters were removed from the middle");
		expect(run.lastRequest).not.toContain("x".repeat(50_000));
	});

	test("warns when the same call comes again and again", async () => {
		const turns = Array.from({ length: 4 }, () => [call("glob", { pattern: "*" })]);
		await using run = await runCalls(provider, turns, { settings: { loopWindow: 4 } });
		expect(run.end).toEqual({ reason: "stop" });
		expect(run.lastRequest).toContain("again and again");
	});
});
