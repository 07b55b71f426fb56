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
	const kernel = bench.open({ ...more, env: { ...env, ...more.env }, artifactsDir: folder });
	const events: KernelEvent[] = [];
	kernel.watch((event) => events.push(event));
	let seen = 0;
	const execute = kernel.execute.bind(kernel);
	kernel.execute = (code, options) => {
		seen = events.length;
		return execute(code, options);
	};
	const path = join(folder, "kernel-state");
	return {
		kernel,
		events,
		path,
		saved: async () => {
			const find = () => events.slice(seen).findLast((event) => event.type === "saved" && event.behind === 0);
			await until("a snapshot holds what the last cell did", () => find() !== undefined);
			return find() as Extract<KernelEvent, { type: "saved" }>;
		},
		kill: async () => {
			const pid = kernel.info()?.pid ?? 0;
			process.kill(pid, "SIGKILL");
			await until("the death is noticed", () => kernel.info() === undefined);
			await until("it is gone", async () => !(await isRunning(pid)));
		},
	};
}

/** Lost names without their reasons. */
export function namesOf(lost: readonly { readonly name: string }[] | undefined): readonly string[] | undefined {
	return lost?.map(({ name }) => name);
}
