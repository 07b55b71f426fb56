import { mkdtemp, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { bundleProgram } from "../scripts/bundle.ts";

const root = resolve(import.meta.dirname, "..");

/** `kernel/testing/gauge.ts` as a program that is bundled and cached as the product is. */
export interface BundledGauge {
	readonly file: string;
	readonly env: NodeJS.ProcessEnv;
	dispose(): Promise<void>;
}

/** Bundles the gauge beside the product's builds, from where it finds the runtime. */
export async function bundleGauge(env: NodeJS.ProcessEnv): Promise<BundledGauge> {
	const folder = await mkdtemp(join(root, "packages/prime-agent/dist/.new-"));
	await bundleProgram({ gauge: "packages/prime-agent/src/kernel/testing/gauge.ts" }, folder);
	return {
		file: join(folder, "gauge.js"),
		env: { ...env, NODE_COMPILE_CACHE: join(folder, ".cache") },
		dispose: () => rm(folder, { recursive: true, force: true }),
	};
}
