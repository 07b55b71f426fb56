import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createKernel } from "../index.ts";
import { Bench, until } from "../testing/bench.ts";

/** The interpreter that serves a back end on this machine, or undefined. */
async function findPython(backend: "builtin" | "ipykernel"): Promise<string | undefined> {
	const bench = await Bench.create(backend);
	try {
		await bench.run("1");
		return bench.kernel.info()?.python;
	} catch {
		return undefined;
	} finally {
		await bench.close();
	}
}

const fit = await findPython("ipykernel");
const left = fit ? "" : " (left out: no Python has ipykernel)";

describe("the choice between the back ends", () => {
	let root: string;
	let bare: string;

	beforeAll(async () => {
		root = await mkdtemp(join(tmpdir(), "kernel-choice-"));
		const python = (await findPython("builtin")) ?? "python3";
		spawnSync(python, ["-m", "venv", "--without-pip", join(root, "bare")]);
		bare = join(root, "bare", "bin", "python");
	});
	afterAll(() => rm(root, { recursive: true, force: true, maxRetries: 3 }));

	/** Which back end serves with these variables, or what is said when none does. */
	async function serves(env: Record<string, string>, backend?: "auto" | "builtin" | "ipykernel"): Promise<string> {
		const base = { HOME: root, PATH: process.env.PATH, TMPDIR: root };
		const kernel = createKernel({ cwd: root, env: { ...base, ...env }, settings: { backend } });
		try {
			await kernel.execute("1");
			return kernel.info()?.backend ?? "none";
		} catch (error) {
			return String(error);
		} finally {
			await kernel.dispose();
		}
	}

	it("an interpreter without ipykernel is named with what it lacks and what to do", async () => {
		const said = await serves({ PRIME_AGENT_KERNEL_PYTHON: bare }, "ipykernel");
		expect(said).toContain(`${bare}: has no ipykernel`);
		expect(said).toContain("apt-get install python3-ipykernel");
		expect(said).toContain("PRIME_AGENT_KERNEL=builtin");
	});

	it("auto takes the built-in kernel where the named interpreter has no ipykernel", async () => {
		expect(await serves({ PRIME_AGENT_KERNEL_PYTHON: bare }, "auto")).toBe("builtin");
	});

	it("auto takes the built-in kernel on the Pythons of the machine", async () => {
		expect(await serves({}, "auto")).toBe("builtin");
	});

	it.skipIf(!fit)(`auto takes ipykernel where the named interpreter has it${left}`, async () => {
		expect(await serves({ PRIME_AGENT_KERNEL_PYTHON: fit ?? "" })).toBe("ipykernel");
	});

	it.skipIf(!fit)(`the environment is stronger than the setting${left}`, async () => {
		const env = { PRIME_AGENT_KERNEL_PYTHON: fit ?? "" };
		expect(await serves({ ...env, PRIME_AGENT_KERNEL: "builtin" }, "ipykernel")).toBe("builtin");
		expect(await serves({ ...env, PRIME_AGENT_KERNEL: "ipykernel" }, "builtin")).toBe("ipykernel");
	});

	it.skipIf(!fit)(`an ipykernel starts with its session, a built-in kernel when it is wanted${left}`, async () => {
		const builtin = join(root, "builtin-python");
		await writeFile(builtin, `#!/bin/sh\ntouch '${root}/started'\nexec '${bare}' "$@"\n`, { mode: 0o755 });
		const env = { HOME: root, PATH: process.env.PATH, TMPDIR: root };
		const late = createKernel({ cwd: root, env, settings: { backend: "builtin", python: builtin } });
		const early = [
			createKernel({ cwd: root, env, settings: { backend: "ipykernel", python: fit } }),
			createKernel({ cwd: root, env: { ...env, PRIME_AGENT_KERNEL_PYTHON: fit } }),
		];
		try {
			await until("they are ready", () => early.every((kernel) => kernel.info()?.backend === "ipykernel"));
			expect(existsSync(join(root, "started"))).toBe(false);
			await late.execute("1");
			expect(existsSync(join(root, "started"))).toBe(true);
		} finally {
			await Promise.all([late, ...early].map((kernel) => kernel.dispose()));
		}
	});
});
