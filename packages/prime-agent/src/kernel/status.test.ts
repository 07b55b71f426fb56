import { chmod, mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { acquireLease } from "../platform/lease.ts";
import type { KernelSettings } from "./index.ts";
import { INSTALL_LOCK } from "./lock.ts";
import { inspectKernel } from "./status.ts";
import { isRunning, until } from "./testing/bench.ts";

let home = "";
const signal = new AbortController().signal;

beforeEach(async () => {
	home = await realpath(await mkdtemp(join(tmpdir(), "kernel-status-")));
});

afterEach(async () => {
	await rm(home, { recursive: true, force: true });
});

const inspect = (env: Record<string, string> = {}, settings: KernelSettings = {}) =>
	inspectKernel({ cwd: home, env: { HOME: home, PATH: process.env.PATH, ...env }, settings, signal });

/** A script in the place of an interpreter. */
async function plant(path: string, script: string): Promise<string> {
	await mkdir(dirname(path), { recursive: true });
	await writeFile(path, `#!/bin/sh\n${script}\n`);
	await chmod(path, 0o755);
	return path;
}

it("a machine without an environment for the kernel gets the built-in one, and is told how to make one", async () => {
	const status = await inspect();
	expect(status.kernel).toMatchObject({ backend: "builtin", version: expect.stringMatching(/^3\.\d+\.\d+$/) });
	expect(status.reason).toBe(
		"No environment was made for the kernel: prime-agent kernel install makes one with ipykernel.",
	);
	expect(status.environments).toEqual([
		join(home, ".prime/agent/kernel-venv"),
		join(home, ".local/share/prime-agent/kernel-venv"),
	]);
	const used = status.interpreters.find(({ unfit }) => unfit === null);
	expect(used).toMatchObject({ kind: "installed", version: status.kernel?.version });
});

it("an environment that does not start is named with what it said, and the next interpreter serves", async () => {
	const broken = await plant(
		join(home, ".prime/agent/kernel-venv/bin/python"),
		"echo 'libpython is gone' >&2; exit 127",
	);
	const status = await inspect();
	expect(status.kernel?.backend).toBe("builtin");
	expect(status.reason).toBe(
		`The environment made for the kernel (${broken}) did not start ipykernel: libpython is gone. prime-agent kernel install makes it anew.`,
	);
	expect(status.interpreters[0]).toMatchObject({ python: broken, kind: "managed", unfit: "libpython is gone" });
});

it.each([
	["PRIME_AGENT_KERNEL asks for it.", { PRIME_AGENT_KERNEL: "builtin" }, {}],
	["The setting kernel.backend asks for it.", {}, { backend: "builtin" }],
	["The setting kernel.backend asks for it.", { PRIME_AGENT_KERNEL: "" }, { backend: "builtin" }],
] as const)("the reason is what the user wrote: %s", async (reason, env, settings) => {
	expect(await inspect(env, settings)).toMatchObject({ kernel: { backend: "builtin" }, reason });
});

it("where no kernel can start, the reason names the interpreter and what it lacks", async () => {
	const old = await plant(join(home, "old"), "echo 'is too old' >&2; exit 64");
	const status = await inspect({ PRIME_AGENT_KERNEL_PYTHON: old });
	expect(status).toMatchObject({
		kernel: null,
		interpreters: [{ python: old, kind: "explicit", unfit: "is too old" }],
	});
	expect(status.reason).toMatch(`The Python kernel cannot start.\nTried:\n  ${old}: is too old\n`);
});

it("an interpreter that hangs does not hold the answer for good: a person can stop it, and it ends", async () => {
	const silent = await plant(join(home, "silent"), `echo $$ >> ${home}/pids; exec sleep 600`);
	const stop = new AbortController();
	const inspected = inspectKernel({
		cwd: home,
		env: { HOME: home, PATH: process.env.PATH, PRIME_AGENT_KERNEL_PYTHON: silent },
		settings: {},
		signal: stop.signal,
	});
	const pids = async () => (await readFile(join(home, "pids"), "utf8").catch(() => "")).split("\n").filter(Boolean);
	await until("it is started and asked", async () => (await pids()).length === 2);
	stop.abort(new Error("stopped by hand"));
	await expect(inspected).rejects.toThrow("stopped by hand");
	for (const pid of await pids()) expect(await isRunning(Number(pid))).toBe(false);
});

it("the process that is installing is named", async () => {
	const lease = acquireLease(join(home, ".prime/agent"), INSTALL_LOCK);
	expect((await inspect()).installing).toEqual({ pid: process.pid, since: expect.stringMatching(/^20.*Z$/) });
	lease.release();
	expect((await inspect()).installing).toBeNull();
});

it("asking in a cell touches nothing that the session of that cell keeps", async () => {
	const kept = join(home, "kept");
	await mkdir(kept, { mode: 0o700 });
	await writeFile(join(kept, "kernel-state"), "variables", { mode: 0o600 });
	expect((await inspect({ PRIME_AGENT_ARTIFACTS_DIR: kept })).kernel?.backend).toBe("builtin");
	expect(await readdir(kept)).toEqual(["kernel-state"]);
});
