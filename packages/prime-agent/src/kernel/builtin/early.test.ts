import { readdirSync, readFileSync } from "node:fs";
import { mkdir, readFile } from "node:fs/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Kernel, type KernelOptions, prestartKernel } from "../index.ts";
import { Bench, check, findLack, isRunning, until } from "../testing/bench.ts";

const lacks = await findLack("ipykernel");

/** Processes that wait, or waited, for a session in a folder. */
function findWaiting(folder: string): readonly number[] {
	return readdirSync("/proc").flatMap((pid) => {
		if (!/^\d+$/.test(pid)) return [];
		try {
			const [words, variables] = [
				readFileSync(`/proc/${pid}/cmdline`, "utf8"),
				readFileSync(`/proc/${pid}/environ`, "utf8"),
			];
			return words.includes("\0--wait\0") && variables.includes(`HOME=${folder}`) ? [Number(pid)] : [];
		} catch {
			// it has ended meanwhile
			return [];
		}
	});
}

describe.skipIf(lacks)(
	`kernels that start before their session${lacks ? " (left out: no Python has ipykernel)" : ""}`,
	() => {
		let bench: Bench;

		beforeEach(async () => {
			bench = await Bench.create("ipykernel");
		});
		afterEach(() => bench.close());

		async function open(more: Partial<KernelOptions> = {}): Promise<Kernel> {
			const kernel = bench.open(more);
			check(await kernel.execute("1"), { result: "1" });
			return kernel;
		}

		it("the first kernel is the one that was started, with folder, environment and skills of its session", async () => {
			prestartKernel(bench.options());
			await until("it is there", () => findWaiting(bench.folder).length > 0);
			await mkdir(`${bench.folder}/session`);
			await mkdir(`${bench.folder}/other`);
			const env = { ...bench.options().env, OWN: "value", TZ: "XYZ-5" };
			const kernel = await open({ cwd: `${bench.folder}/other`, env, artifactsDir: `${bench.folder}/session` });
			expect(findWaiting(bench.folder)).toContain(kernel.info()?.pid);
			const cell = await kernel.execute(
				"import os, sys, time\nprint(os.getcwd(), os.environ['OWN'], time.strftime('%Z%z'), os.environ['PRIME_AGENT_ARTIFACTS_DIR'], sys.argv, edit)\n!echo $OWN",
			);
			check(cell, {
				stdout: `${bench.folder}/other value XYZ+0500 ${bench.folder}/session [''] <skill edit: await edit(...)>\nvalue\n`,
			});
			expect(findWaiting(bench.folder)).not.toContain((await open()).info()?.pid);
		});

		it("what it started ends with it", async () => {
			prestartKernel(bench.options());
			const kernel = await open();
			await kernel.execute("%%bash\nenv > variables; setsid sleep 600 & echo $! > job");
			const job = Number(await readFile(`${bench.folder}/job`, "utf8"));
			expect(await readFile(`${bench.folder}/variables`, "utf8")).toMatch(/^PRIME_AGENT_KERNEL_ID=/m);
			await kernel.dispose();
			expect(await isRunning(job)).toBe(false);
			expect(findWaiting(bench.folder)).toEqual([]);
		});

		it("one that no session takes over ends with the last kernel", async () => {
			prestartKernel(bench.options());
			const { env } = bench.options();
			const kernel = await open({ env: { ...env, LC_ALL: "C" } });
			expect(findWaiting(bench.folder)).not.toContain(kernel.info()?.pid);
			await kernel.dispose();
			expect(findWaiting(bench.folder)).toEqual([]);
		});

		it("closing a kernel before it takes over the one that waits leaves nothing behind", async () => {
			prestartKernel(bench.options());
			const kernel = bench.open({ settings: { backend: "builtin" } });
			await kernel.dispose();
			expect(findWaiting(bench.folder)).toEqual([]);
		});

		it("the built-in kernel does not start early", () => {
			prestartKernel(bench.options({ settings: { backend: "builtin" } }));
			const { env } = bench.options();
			prestartKernel({ cwd: bench.folder, env: { ...env, PRIME_AGENT_KERNEL: "auto" } });
			expect(findWaiting(bench.folder)).toEqual([]);
		});
	},
);
