import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { spawn as spawnTerminal } from "@lydell/node-pty";
import { reply, runProcess, waitFor } from "@prime-agent/testkit";
import { expect, it, onTestFinished } from "vitest";
import { type CliHarness, nodeArguments, setUpCli } from "./cli-harness.ts";

/** The lines of the only saved session, each of which must be whole. */
async function readSession({ agentFolder }: CliHarness): Promise<{ type: string }[]> {
	const [name] = await readdir(join(agentFolder, "sessions"));
	const text = await readFile(join(agentFolder, "sessions", name!), "utf8");
	expect(text.endsWith("\n")).toBe(true);
	return text
		.trimEnd()
		.split("\n")
		.map((line) => JSON.parse(line));
}

/** Runs a shell line in which `$NODE $MAIN` is the program. */
function runShell(harness: CliHarness, line: string) {
	const env = { ...harness.home.env, NODE: process.execPath, MAIN: nodeArguments([])[0]! };
	return runProcess("/bin/sh", ["-c", line], { cwd: harness.cwd, env, timeoutMs: 60_000 });
}

/** Runs the program on a terminal; resolves with its exit code and everything that the terminal got. */
function runOnTerminal({ home, cwd }: CliHarness, argv: readonly string[]): Promise<{ code: number; screen: string }> {
	const terminal = spawnTerminal(process.execPath, nodeArguments(argv), { cwd, env: home.env, cols: 200, rows: 50 });
	onTestFinished(() => {
		try {
			terminal.kill("SIGKILL");
		} catch {
			// It has ended already.
		}
	});
	let screen = "";
	terminal.onData((data) => {
		screen += data;
	});
	return new Promise((fulfil) => {
		terminal.onExit(({ exitCode }) => fulfil({ code: exitCode, screen: screen.replaceAll("\r\n", "\n") }));
	});
}

/** Whether a process runs whose command line has the text. */
async function isRunning(text: string): Promise<boolean> {
	const { stdout } = await runProcess("ps", ["-eo", "args"]);
	return stdout.split("\n").some((line) => line.includes(text));
}

it.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)(
	"stops on %s while the model is silent, and keeps the session whole",
	async (signal) => {
		const harness = await setUpCli();
		harness.server.script(reply({ text: "never finished", silence: { afterEvents: 2 } }));
		const live = harness.start(["-p", "--mode", "json", "hi"], { input: "" });
		await live.waitForOutput(/text_delta/);
		live.kill(signal);
		const result = await live.done;
		expect(result).toMatchObject({ code: 1, stderr: `Error: Stopped by ${signal}.\n` });
		const lines = result.stdout
			.trimEnd()
			.split("\n")
			.map((line) => JSON.parse(line));
		expect(lines.at(-1).type).toBe("agent_end");
		expect((await readSession(harness)).map(({ type }) => type)).toContain("message");
	},
);

it("ends what a cell has started when it is stopped", async () => {
	const harness = await setUpCli();
	const marker = `30${Date.now()}`;
	harness.server.script(reply({ calls: [{ name: "ipython", arguments: { code: `%%bash\nsleep ${marker}` } }] }));
	const live = harness.start(["-p", "hi"], { input: "" });
	await waitFor(() => isRunning(`sleep ${marker}`), "the cell's process");
	live.kill("SIGTERM");
	expect(await live.done).toMatchObject({ code: 1, stdout: "", stderr: "Error: Stopped by SIGTERM.\n" });
	await waitFor(async () => !(await isRunning(`sleep ${marker}`)), "the end of the cell's process");
});

it("can be stopped while it waits for piped input", async () => {
	const harness = await setUpCli();
	const live = harness.start(["-p", "hi"]);
	await live.waitForOutput(/Waiting for the end of the piped input/, { stream: "stderr" });
	live.kill("SIGINT");
	expect(await live.done).toMatchObject({ code: 1, stdout: "" });
	expect(live.stderr).toMatch(/Error: Stopped by SIGINT\.\n$/);
	expect(harness.server.requests).toHaveLength(0);
});

it("takes late input all the same", async () => {
	const harness = await setUpCli();
	harness.server.script(reply({ text: "seen" }));
	const live = harness.start(["-p"]);
	await live.waitForOutput(/Waiting/, { stream: "stderr" });
	live.write("late words");
	live.endInput();
	expect(await live.done).toMatchObject({ code: 0, stdout: "seen\n" });
	expect(harness.server.modelRequests[0]?.body.messages.at(-1).content).toBe("<stdin>\nlate words\n</stdin>");
});

it("works with a closed standard input", async () => {
	const harness = await setUpCli();
	harness.server.script(reply({ text: "fine" }));
	expect(await runShell(harness, '"$NODE" "$MAIN" -p hi <&-')).toMatchObject({ code: 0, stdout: "fine\n", stderr: "" });
});

it("is quiet when its reader goes away, and stops the run", async () => {
	const harness = await setUpCli();
	harness.server.script(reply({ text: "a word ".repeat(5_000), chunk: 1, delayMs: 1 }));
	const result = await runShell(harness, '"$NODE" "$MAIN" -p --mode json hi </dev/null | head -n 1');
	expect(result).toMatchObject({ code: 0, stderr: "" });
	expect(JSON.parse(result.stdout)).toMatchObject({ type: "session" });
});

it("shows a terminal the text as it comes and what the cells do, without letting either steer it", async () => {
	const harness = await setUpCli();
	harness.server.script(
		reply({
			text: "Look:\u001b]0;owned\u0007 \u001b[31mred",
			calls: [{ name: "ipython", arguments: { code: "print(1)\n1/0" } }],
		}),
		reply({ text: "done" }),
	);
	const { code, screen } = await runOnTerminal(harness, ["-p", "hi"]);
	expect(code).toBe(0);
	expect(screen).toBe(
		"Look: red\n[ipython] print(1) … (1 more lines)\n[ipython] failed: ZeroDivisionError: division by zero\ndone\n",
	);
});

it("says on a terminal, too, that the interactive mode is not there yet", async () => {
	const harness = await setUpCli();
	const { code, screen } = await runOnTerminal(harness, []);
	expect(code).toBe(1);
	expect(screen).toMatch(/^Error: The interactive mode is not there yet\..* -p /);
});

it.skipIf(process.platform !== "linux").each(["--version", "--help", "model list"])(
	"%s fails when its output cannot be written, and says so",
	async (words) => {
		const result = await runShell(await setUpCli(), `"$NODE" "$MAIN" ${words} >/dev/full`);
		expect(result.code).toBe(1);
		expect(result.stderr).toMatch(/^Error: The output cannot be written: ENOSPC[^\n]*\n$/);
	},
);

it("names --no-session where the lease of a session cannot be written", async () => {
	const harness = await setUpCli();
	await writeFile(join(harness.agentFolder, "session-leases"), "in the way");
	const result = await harness.run(["-p", "--session-dir", join(harness.home.path, "s"), "hi"]);
	expect(result.code).toBe(1);
	expect(result.stderr).toMatch(/^Error: The lease of session .*Make the folder writable\. --no-session keeps nothing/);
	harness.server.script(reply({ text: "fine" }));
	expect(await harness.run(["-p", "--no-session", "hi"])).toMatchObject({ code: 0, stdout: "fine\n" });
});
