import { raw, reply, runProcess } from "@prime-agent/testkit";
import { describe, expect, test } from "vitest";
import { makeAgent } from "./testing/agent.ts";

const call = (name: string, args: object) => ({ name, arguments: args });
const shell = (command: string) => call("shell", { command });
const done = reply({ text: "done" });

function toolLines(stderr: string): string[] {
	return stderr.split("\n").filter((line) => line.startsWith("[tool]"));
}

describe.concurrent("stdout", () => {
	test("text comes out while the model is still talking", async () => {
		const heard = Promise.withResolvers<void>();
		await using at = await makeAgent({
			script: [reply({ text: "first last", chunk: 5, silence: { afterEvents: 4, until: heard.promise } })],
		});
		await using live = at.start("x");
		await live.waitForOutput(/first/);
		expect(live.stdout).not.toContain("last");
		heard.resolve();
		expect((await live.done).stdout).toBe("first last\n");
	});

	test("only the agent's words are there, one message per line", async () => {
		await using at = await makeAgent({
			files: { "a.txt": "SECRETWORD\n" },
			script: [reply({ text: "one", calls: [call("read_file", { file_path: "a.txt" })] }), reply({ text: "two" })],
		});
		const result = await at.run("x");
		expect(result.stdout).toBe("one\ntwo\n");
		expect(result.stderr).not.toContain("SECRETWORD");
		expect(result.stderr).toMatch(/^\[tool\] read a\.txt\nDone \(/);
	});

	test("a message that ends its line gets no second line end", async () => {
		await using at = await makeAgent({ script: [reply({ text: "line\n" })] });
		expect((await at.run("x")).stdout).toBe("line\n");
	});

	test("thinking is not shown", async () => {
		await using at = await makeAgent({ script: [reply({ thinking: "SECRETTHOUGHT", text: "answer" })] });
		const result = await at.run("x");
		expect(result.stdout).toBe("answer\n");
		expect(result.stderr).not.toContain("SECRETTHOUGHT");
	});

	test("characters that arrive in pieces stay whole", async () => {
		const text = "a😀é漢字👩‍👩‍👧 z";
		await using at = await makeAgent({ script: [reply({ text, split: "byte" })] });
		expect((await at.run("x")).stdout).toBe(`${text}\n`);
	});

	test("a reader that goes away ends the run without a trace of it", async () => {
		const text = "long text ".repeat(50_000);
		await using at = await makeAgent({ script: [reply({ text, chunk: 1000, delayMs: 5 })] });
		const command = '("$0" "$@"; echo "code $?" >&2) | head -c 1 >/dev/null';
		const result = await runProcess("/bin/bash", ["-c", command, process.execPath, at.main, "x"], {
			cwd: at.folder,
			env: at.env,
		});
		expect(result).toMatchObject({ stderr: "code 1\n", timedOut: false });
	});
});

describe.concurrent("tool lines", () => {
	test("every tool has its own key argument, paths relative to the folder", async () => {
		await using at = await makeAgent({
			files: { "hello.txt": "old\n" },
			script: [
				(_request) =>
					reply({
						calls: [
							call("read_file", { file_path: `${at.folder}/hello.txt` }),
							call("edit_file", { file_path: "./hello.txt", old_string: "old", new_string: "new" }),
							call("write_file", { file_path: `${at.folder}/sub/../new.txt`, content: "" }),
							call("grep", { pattern: "a b" }),
							call("glob", { pattern: "**/*.ts" }),
							shell("npm test"),
							call("spawn_things", { b: 1 }),
							call("read_file", { file_path: "/etc/hostname" }),
							call("read_file", {}),
						],
					}),
				done,
			],
		});
		expect(toolLines((await at.run("x")).stderr)).toEqual([
			"[tool] read hello.txt",
			"[tool] edit hello.txt",
			"[tool] write new.txt",
			"[tool] grep a b",
			"[tool] glob **/*.ts",
			"[tool] shell npm test",
			'[tool] spawn_things {"b":1}',
			"[tool] read /etc/hostname",
			"[tool] read",
		]);
	});

	test("a patch is shown with all of its paths", async () => {
		const patch = "*** Begin Patch\n*** Add File: a.txt\n+x\n*** Add File: sub/b.txt\n+y\n*** End Patch";
		await using at = await makeAgent({
			provider: "openai",
			script: [reply({ calls: [call("apply_patch", { patch })] }), done],
		});
		const result = await at.run("x", "--provider", "openai");
		expect(toolLines(result.stderr)).toEqual(["[tool] apply_patch a.txt sub/b.txt"]);
		expect(await at.read("sub/b.txt")).toBe("y\n");
	});

	test("the tools of gemini have their lines too", async () => {
		await using at = await makeAgent({
			provider: "gemini",
			files: { "a.txt": "", "b.txt": "" },
			script: [
				reply({ calls: [call("list_dir", { path: "." }), call("read_many_files", { paths: ["a.txt", "b.txt"] })] }),
				done,
			],
		});
		const result = await at.run("x", "--provider", "gemini");
		expect(toolLines(result.stderr)).toEqual(["[tool] list .", "[tool] read a.txt b.txt"]);
	});

	test("a call stays on one line without control signs and is cut after 200 characters", async () => {
		await using at = await makeAgent({
			script: [reply({ calls: [shell("echo \u001b[31mred\u0007\n\trm"), shell("y".repeat(500))] }), done],
		});
		const { stderr } = await at.run("x");
		expect(toolLines(stderr)).toEqual(["[tool] shell echo  [31mred rm", `[tool] shell ${"y".repeat(200)}…`]);
		expect(stderr).not.toContain("\u001b");
	});

	test("the words of a subagent are not shown, its task is", async () => {
		await using at = await makeAgent({
			script: [
				reply({ calls: [call("spawn_agent", { task: "dig deep" })] }),
				...Array.from({ length: 3 }, () => (request: { raw: string }) => {
					if (!request.raw.includes("spawn_agent")) return reply({ text: "CHILDWORDS" });
					const id = /agent_id\\*":\\*"([0-9a-f]{8})/.exec(request.raw)?.[1];
					const hasWaited = request.raw.includes('"name":"wait","input"');
					return hasWaited ? done : reply({ calls: [call("wait", { agent_id: id })] });
				}),
			],
		});
		const result = await at.run("x");
		expect(result.stdout).toBe("done\n");
		expect(result.stderr).toMatch(
			/^\[tool\] spawn_agent dig deep\n\[tool\] wait [0-9a-f]{8}\nDone \(3 turns, 2 tool calls, /,
		);
	});
});

describe.concurrent("the summary", () => {
	test("turns, calls and tokens are counted, cached ones included", async () => {
		const calls = ["a", "b", "c"].map((pattern) => call("glob", { pattern }));
		await using at = await makeAgent({
			script: [
				reply({ calls, usage: { input: 1000, output: 600 } }),
				reply({ text: "x", usage: { input: 1200, cacheRead: 1190, output: 400 } }),
			],
		});
		expect((await at.run("x")).stderr).toMatch(/\nDone \(2 turns, 3 tool calls, 3\.2k tokens\)\n$/);
	});

	test("a failed request is told in one line before it and counts no turn", async () => {
		const error = { type: "error", error: { type: "invalid_request_error", message: "no good\nat all" } };
		await using at = await makeAgent({ script: [raw({ status: 400, body: error })] });
		const result = await at.run("x");
		expect(result.code).toBe(1);
		expect(result.stderr).toMatch(/^error: .*no good at all.*\nDone \(0 turns, 0 tool calls, 0\.0k tokens\)\n$/);
	});
});

describe.concurrent("--debug", () => {
	test("prompt, instructions, tools and raw events are shown behind their mark and without the key", async () => {
		await using at = await makeAgent({
			files: { "a.txt": "file content\n" },
			script: [reply({ calls: [call("read_file", { file_path: "a.txt" })] }), reply({ text: "two words" })],
		});
		const result = await at.run("my prompt", "--debug");
		expect(result.stdout).toBe("two words\n");
		const debug = result.stderr.split("\n").filter((line) => line.startsWith("[debug] "));
		const text = debug.join("\n");
		for (const part of [
			at.server.url,
			'"model": "claude',
			"my prompt",
			"You are a coding agent",
			'"name": "read_file"',
			'"messages": [',
			"1 | file content",
			"event: message_start",
			"response 200",
		]) {
			expect(text).toContain(part);
		}
		const others = result.stderr.split("\n").filter((line) => !line.startsWith("[debug] "));
		expect(others).toEqual(["[tool] read a.txt", expect.stringMatching(/^Done \(2 turns/), ""]);
		expect(result.stderr).not.toContain("test-key-0123456789");
	});

	test.each(["openai", "gemini"] as const)("the key of %s is not shown either", async (provider) => {
		await using at = await makeAgent({ provider, script: [reply({ text: "x" })] });
		const result = await at.run("my prompt", "--debug", "--provider", provider);
		expect(result.stderr).toContain("[debug] request POST");
		expect(result.stderr).not.toContain("test-key-0123456789");
	});

	test("the body of a refusal is shown", async () => {
		const error = { type: "error", error: { type: "invalid_request_error", message: "no good" } };
		await using at = await makeAgent({ script: [raw({ status: 400, body: error })] });
		const { stderr } = await at.run("x", "--debug");
		expect(stderr).toContain("[debug] response 400");
		expect(stderr).toMatch(/\[debug\] .*"message":\s?"no good"/);
	});

	test("a wait for the next attempt is told", async () => {
		await using at = await makeAgent({
			script: [raw({ status: 429, headers: { "retry-after": "0" }, body: {} }), done],
		});
		const { stderr, code } = await at.run("x");
		expect(code).toBe(0);
		expect(stderr).toMatch(/^retry 1 in 0\.0 s: .*\nDone \(1 turns/);
		expect(stderr).not.toContain("[debug]");
	});
});
