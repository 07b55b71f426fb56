import { stat } from "node:fs/promises";
import { join } from "node:path";
import type { KernelEvent } from "../../session/ports.ts";
import type { Kernel, KernelOptions } from "../index.ts";
import { type Bench, isRunning, until } from "./bench.ts";

/** A kernel whose variables are kept in the folder of its session. */
export interface KeptKernel {
	readonly kernel: Kernel;
	readonly events: KernelEvent[];
	/** The file of the snapshot. */
	readonly path: string;
	/** Waits for a snapshot that holds what the last cell did. */
	saved(): Promise<Extract<KernelEvent, { type: "saved" }>>;
	/** Kills the kernel process from outside and waits until that is noticed. */
	kill(): Promise<void>;
}

/** A kernel of the bench that keeps its variables; every one of a bench has the same session. */
export function openKept(bench: Bench, more: Partial<KernelOptions> = {}): KeptKernel {
	const folder = join(bench.folder, "session");
	const { env } = bench.options();
	const kernel = bench.open({ ...more, env: { ...env, ...more.env, PRIME_AGENT_ARTIFACTS_DIR: folder } });
	const events: KernelEvent[] = [];
	kernel.watch((event) => events.push(event));
	const path = join(folder, "kernel-state");
	return {
		kernel,
		events,
		path,
		saved: async () => {
			// the mark goes once nothing is left to save
			await until("a snapshot is taken", () => events.some(({ type }) => type === "saved"));
			await until(
				"nothing is left to save",
				async () => (await stat(`${path}.behind`).catch(() => undefined)) === undefined,
			);
			return events.findLast((event) => event.type === "saved") as Extract<KernelEvent, { type: "saved" }>;
		},
		kill: async () => {
			const pid = kernel.info()?.pid ?? 0;
			process.kill(pid, "SIGKILL");
			await until("the death is noticed", () => kernel.info() === undefined);
			await until("it is gone", async () => !(await isRunning(pid)));
		},
	};
}
