import { expect, test } from "vitest";
import { LocalEnvironment } from "../environment/local.ts";
import { makeTools, readResult } from "../testing/tools.ts";
import { createShellTool } from "./shell.ts";

test("both outputs come before the exit code, and a code other than 0 is an error", async () => {
	await using at = await makeTools();
	const answer = await at.call("shell", { command: "echo a; echo b >&2; exit 3" });
	expect(answer.isError).toBe(true);
	expect(answer.text).toMatch(/^a\nb\n\[exit code 3, \d+ ms\]$/);
});

test("a command without output says so", async () => {
	await using at = await makeTools();
	expect((await at.call("shell", { command: "true" })).text).toMatch(/^\(no output\)\n\[exit code 0, \d+ ms\]$/);
});

test("a missing program is told by its exit code", async () => {
	await using at = await makeTools();
	expect((await at.call("shell", { command: "no-such-program" })).text).toMatch(/\[exit code 127,/);
});

test("a killed command is reported as killed, also one inside the command line", async () => {
	await using at = await makeTools();
	expect((await at.call("shell", { command: "kill -9 $$" })).text).toMatch(/\[killed by SIGKILL after/);
	expect((await at.call("shell", { command: "(kill -9 $BASHPID); exit $?" })).text).toMatch(
		/\[exit code 137 \(a command was killed by SIGKILL\),/,
	);
});

test("a timeout keeps the output so far and names the way out", async () => {
	await using at = await makeTools();
	const answer = await at.call("shell", { command: "echo before; sleep 600", timeout_ms: 300 });
	expect(answer.isError).toBe(true);
	expect(answer.text).toMatch(/^before\n\[ERROR: Command timed out after 300ms\..*timeout_ms/);
});

test.each([
	[undefined, 7],
	[0, 7],
	[-1, 7],
	[Number.NaN, 7],
	[5, 5],
	[5.9, 5],
	[999_999, 600],
])("a timeout of %s becomes %s ms", async (wanted, expected) => {
	let seen: number | undefined;
	const environment = new LocalEnvironment({ workingDirectory: "/", variables: {} });
	environment.execCommand = async ({ timeoutMs }) => {
		seen = timeoutMs;
		return { stdout: "", stderr: "", exitCode: 0, signal: null, timedOut: false, aborted: false, durationMs: 1 };
	};
	const tool = createShellTool(environment, { usual: 7, longest: 600 });
	await tool.execute("call", { command: "true", timeout_ms: wanted } as never, undefined);
	expect(seen).toBe(expected);
});

test("output is told while the command runs", async () => {
	await using at = await makeTools();
	const parts: string[] = [];
	const abort = new AbortController();
	const result = await at.tools.shell!.execute(
		"call",
		{ command: "echo now; sleep 600" } as never,
		abort.signal,
		(part) => {
			parts.push(readResult(part).text);
			abort.abort();
		},
	);
	expect(parts).toEqual(["now\n"]);
	expect(readResult(result)).toMatchObject({ isError: true, text: expect.stringMatching(/^now\n\[aborted after/) });
});

test("folders and variables of one call do not reach the next", async () => {
	await using at = await makeTools();
	await at.call("shell", { command: "cd /; export X=1" });
	expect((await at.call("shell", { command: 'pwd; echo "<$X>"' })).text).toContain(`${at.folder.path}\n<>\n`);
});

test("many small pieces of output are told whole and in order", async () => {
	await using at = await makeTools();
	const parts: string[] = [];
	const command = "for i in $(seq 5000); do echo $i; done";
	await at.tools.shell!.execute("call", { command } as never, undefined, (part) => parts.push(readResult(part).text));
	expect(parts.join("")).toBe(Array.from({ length: 5000 }, (_, index) => `${index + 1}\n`).join(""));
});
