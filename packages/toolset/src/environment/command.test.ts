import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { makeFolder } from "../testing/folder.ts";
import type { CommandRequest } from "./environment.ts";
import { LocalEnvironment, type LocalOptions } from "./local.ts";

function isAlive(pid: number): boolean {
	try {
		process.kill(pid, 0);
		return true;
	} catch {
		return false;
	}
}

async function readPid(path: string): Promise<number> {
	return vi.waitFor(
		async () => {
			const pid = Number(await readFile(path, "utf8"));
			expect(pid).toBeGreaterThan(0);
			return pid;
		},
		{ timeout: 20_000 },
	);
}

async function setUp(options: Partial<LocalOptions> = {}) {
	const folder = await makeFolder();
	const environment = new LocalEnvironment({
		workingDirectory: folder.path,
		variables: { PATH: process.env.PATH },
		killGraceMs: 300,
		...options,
	});
	const run = (command: string, request: Partial<CommandRequest> = {}) =>
		environment.execCommand({ command, timeoutMs: 60_000, ...request });
	return {
		folder,
		environment,
		run,
		async [Symbol.asyncDispose]() {
			await environment.cleanup();
			await folder[Symbol.asyncDispose]();
		},
	};
}

test("a command's output streams and exit code are told apart", async () => {
	await using at = await setUp();
	expect(await at.run("echo a; echo b >&2; exit 3")).toEqual({
		stdout: "a\n",
		stderr: "b\n",
		exitCode: 3,
		signal: null,
		timedOut: false,
		aborted: false,
		durationMs: expect.any(Number),
	});
});

test("a command has no input", async () => {
	await using at = await setUp();
	expect((await at.run("cat; readlink /proc/self/fd/0")).stdout).toBe("/dev/null\n");
});

test("a command is the leader of its own session and so has no controlling terminal", async () => {
	await using at = await setUp();
	expect((await at.run("exec 3</dev/tty || echo none")).stdout).toBe("none\n");
});

test("a command that a signal ends is reported with the signal", async () => {
	await using at = await setUp();
	expect(await at.run("kill -KILL $$")).toMatchObject({ exitCode: null, signal: "SIGKILL" });
});

test("the timeout ends the whole process group, also members that ignore TERM, and keeps the output so far", async () => {
	await using at = await setUp();
	const result = await at.run(
		`trap "" TERM; echo started; (trap "" TERM; sleep 600) & echo $! > child; while true; do sleep 600 & wait $!; done`,
		{ timeoutMs: 300 },
	);
	expect(result).toMatchObject({ stdout: "started\n", timedOut: true, aborted: false });
	const child = await readPid(join(at.folder.path, "child"));
	await vi.waitFor(() => expect(isAlive(child)).toBe(false), { timeout: 20_000 });
});

test("a command ends with its shell although a background child holds its output", async () => {
	await using at = await setUp();
	const result = await at.run("sleep 600 & echo $! > child; echo hi");
	expect(result).toMatchObject({ stdout: "hi\n", exitCode: 0, timedOut: false });
	expect(isAlive(await readPid(join(at.folder.path, "child")))).toBe(true);
});

test("a background child may go on printing and ends with the clean-up", async () => {
	await using at = await setUp();
	await at.run("(echo $BASHPID > child; while true; do echo x; echo $((++n)) > count; sleep 0.02; done) &");
	const child = await readPid(join(at.folder.path, "child"));
	const count = () => readFile(join(at.folder.path, "count"), "utf8");
	await vi.waitFor(async () => expect(Number(await count())).toBeGreaterThan(20), { timeout: 30_000 });
	await at.environment.cleanup();
	await vi.waitFor(() => expect(isAlive(child)).toBe(false), { timeout: 20_000 });
});

test("an abort ends the command and is told apart from a timeout", async () => {
	await using at = await setUp();
	const abort = new AbortController();
	const running = at.run("echo ready; sleep 600", {
		signal: abort.signal,
		onOutput: () => abort.abort(),
	});
	expect(await running).toMatchObject({ stdout: "ready\n", aborted: true, timedOut: false });
});

test("killAll ends running commands at once although they ignore TERM", async () => {
	await using at = await setUp({ killGraceMs: 600_000 });
	const abort = new AbortController();
	const running = at.run(`trap "" TERM; echo ready; while true; do sleep 1; done`, {
		signal: abort.signal,
		onOutput: () => abort.abort(),
	});
	await vi.waitFor(() => expect(abort.signal.aborted).toBe(true), { timeout: 20_000 });
	at.environment.killAll();
	expect(await running).toMatchObject({ signal: "SIGKILL", aborted: true });
});

test("output that is no UTF-8 is shown byte by byte and characters across chunks stay whole", async () => {
	await using at = await setUp();
	const pieces: string[] = [];
	const result = await at.run(`printf 'caf\\xe9 '; printf '\\xf0\\x9f'; sleep 0.05; printf '\\x98\\x80'`, {
		onOutput: (text) => pieces.push(text),
	});
	expect(result.stdout).toBe("caf\\xe9 😀");
	expect(pieces.join("")).toBe("caf\\xe9 😀");
});

test("a flood of output keeps both ends and counts what was left out", async () => {
	await using at = await setUp({ keepBytes: 1000 });
	const { stdout } = await at.run("echo first; yes ééé | head -c 2999997; echo last");
	expect(stdout.startsWith("first\n")).toBe(true);
	expect(stdout.endsWith("last\n")).toBe(true);
	expect(stdout).not.toContain("\\x");
	const dropped = Number(/\[\.\.\. (\d+) bytes of output were not kept \.\.\.\]/.exec(stdout)?.[1]);
	const shown = Buffer.byteLength(stdout.replace(/\n\[\.\.\..*\.\.\.\]\n/, ""));
	expect(shown + dropped).toBe(6 + 2_999_997 + 5);
	expect(shown).toBeLessThanOrEqual(2000);
});

test("a command runs in the given folder and sees its own variables but no secrets", async () => {
	await using at = await setUp({
		variables: { PATH: process.env.PATH, FOO_API_KEY: "1", foo_token: "2", X_SECRET: "3", GOPATH: "/go", OTHER: "4" },
	});
	await at.folder.write({ "sub/x": "" });
	const result = await at.run("pwd; env", {
		workingDirectory: "sub",
		variables: { MINE: "5", MY_PASSWORD: "6" },
	});
	const lines = result.stdout.split("\n");
	expect(lines[0]).toBe(`${at.folder.path}/sub`);
	expect(lines).toEqual(expect.arrayContaining(["GOPATH=/go", "OTHER=4", "MINE=5"]));
	expect(result.stdout).not.toMatch(/FOO_API_KEY|foo_token|X_SECRET|MY_PASSWORD/);
});

test("a command in a folder that does not exist fails with the folder's name", async () => {
	await using at = await setUp();
	await expect(at.run("true", { workingDirectory: "nowhere" })).rejects.toThrow(/nowhere/);
});
