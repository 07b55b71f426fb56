import { spawnSync } from "node:child_process";
import { chmod, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createKernel, type KernelSettings } from "./index.ts";
import { inspectKernel } from "./status.ts";

let root = "";
let plain = "";

/** An interpreter of this machine in an environment of its own, which has nothing. */
async function makePlain(folder: string): Promise<string> {
	const { kernel } = await inspectKernel({
		cwd: root,
		env: { HOME: root, PATH: process.env.PATH, PRIME_AGENT_KERNEL: "builtin" },
		settings: {},
		signal: new AbortController().signal,
	});
	spawnSync(kernel?.python ?? "", ["-I", "-m", "venv", "--without-pip", folder]);
	return join(folder, "bin", "python");
}

beforeAll(async () => {
	root = await realpath(await mkdtemp(join(tmpdir(), "kernel-stand-in-")));
	plain = await makePlain(join(root, "plain"));
});

afterAll(() => rm(root, { recursive: true, force: true, maxRetries: 3 }));

/** What a session here is told when its kernel starts, twice, and what `kernel status` says. */
async function tell(env: Record<string, string>, settings: KernelSettings = {}) {
	const place = { cwd: root, env: { HOME: root, PATH: process.env.PATH, TMPDIR: root, ...env }, settings };
	const told: string[] = [];
	const kernel = createKernel(place);
	kernel.watch((event) => {
		if (event.type === "stands_in") told.push(`${event.reason} ${event.advice}`);
	});
	try {
		await kernel.execute("1");
		const { reason } = await inspectKernel({ ...place, signal: new AbortController().signal });
		return { told, status: reason, backend: kernel.info()?.backend };
	} finally {
		await kernel.dispose();
	}
}

async function plant(path: string, script: string): Promise<string> {
	await mkdir(dirname(path), { recursive: true });
	await writeFile(path, `#!/bin/sh\n${script}\n`);
	await chmod(path, 0o755);
	return path;
}

describe("the built-in kernel that stands in for ipykernel", () => {
	it("says that a named interpreter has none, and how to get one; the status says the same", async () => {
		const text = `The interpreter that PRIME_AGENT_KERNEL_PYTHON names (${plain}) has no ipykernel 6. Install ipykernel 6 there, or leave PRIME_AGENT_KERNEL_PYTHON out: prime-agent kernel install makes one with ipykernel.`;
		expect(await tell({ PRIME_AGENT_KERNEL_PYTHON: plain })).toEqual({
			told: [text],
			status: text,
			backend: "builtin",
		});
		expect((await tell({}, { python: plain })).told).toEqual([
			text.replaceAll("PRIME_AGENT_KERNEL_PYTHON", "the setting kernel.python"),
		]);
	});

	it("says what the environment that was made for it said when it did not start", async () => {
		const venv = join(root, "broken");
		const python = await plant(join(venv, "bin", "python"), "echo 'libzmq is gone' >&2; exit 1");
		const text = `The environment made for the kernel (${python}) did not start ipykernel: libzmq is gone. prime-agent kernel install makes it anew.`;
		expect(await tell({ PRIME_AGENT_KERNEL_VENV: venv })).toEqual({ told: [text], status: text, backend: "builtin" });
	});

	it("says that the Python of the environment is gone, as after an upgrade of the system", async () => {
		const venv = join(root, "upgraded");
		await mkdir(join(venv, "bin"), { recursive: true });
		await symlink("/opt/python3.9/bin/python3", join(venv, "bin", "python"));
		const text = `The environment made for the kernel (${venv}) has no Python that can run any more. prime-agent kernel install makes it anew.`;
		expect(await tell({ PRIME_AGENT_KERNEL_VENV: venv })).toEqual({ told: [text], status: text, backend: "builtin" });
	});

	it("says that nothing is where PRIME_AGENT_KERNEL_VENV points", async () => {
		const venv = join(root, "nowhere");
		expect((await tell({ PRIME_AGENT_KERNEL_VENV: venv })).told).toEqual([
			`PRIME_AGENT_KERNEL_VENV names ${venv}, and no environment is there. prime-agent kernel install makes one with ipykernel.`,
		]);
	});

	it("says nothing where it is what was asked for, or where nobody asked for ipykernel", async () => {
		const nowhere = join(root, "nowhere");
		for (const place of [{ PRIME_AGENT_KERNEL_PYTHON: plain }, { PRIME_AGENT_KERNEL_VENV: nowhere }]) {
			expect((await tell({ PRIME_AGENT_KERNEL: "builtin", ...place })).told).toEqual([]);
		}
		expect((await tell({})).told).toEqual([]);
	});
});
