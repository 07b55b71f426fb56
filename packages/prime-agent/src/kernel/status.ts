import { dirname } from "node:path";
import { errorText } from "../lib/text.ts";
import { findLeaseOwner } from "../platform/lease.ts";
import type { Environment } from "../platform/paths.ts";
import type { InterpreterReport, KernelReport } from "../protocol/kernel-report.ts";
import { filterEnvironment } from "./environment.ts";
import { createKernel, type KernelSettings } from "./index.ts";
import { type Candidate, listCandidates, managedFolders } from "./interpreters.ts";
import { INSTALL_LOCK } from "./lock.ts";
import { type Probe, probeInterpreter, whyUnfit } from "./probe.ts";
import { findRuntime } from "./runtime.ts";
import type { StandIn } from "./stand-in.ts";

/** Where to look, and what the user wants. */
export interface StatusOptions {
	readonly cwd: string;
	readonly env: Environment;
	readonly settings: KernelSettings;
	readonly signal: AbortSignal;
}

/** Starts a kernel as a session would, asks each interpreter what it has, and says why it came out so. */
export async function inspectKernel(options: StatusOptions): Promise<KernelReport> {
	const { env, settings, signal } = options;
	const { env: filtered } = filterEnvironment(env, settings.envPass);
	const probing = { runtimeDir: findRuntime(), env: filtered, cwd: options.cwd, signal };
	const starting = tryKernel(options);
	const asked = listCandidates({ env, python: settings.python }).map(async (candidate) =>
		describe(candidate, await probeInterpreter(candidate.python, probing)),
	);
	// also when it is called off nothing that was started outlives this
	await Promise.allSettled([starting, ...asked]);
	signal.throwIfAborted();
	const [started, interpreters] = [await starting, await Promise.all(asked)];
	const environments = managedFolders(env);
	return {
		kernel: started.kernel ?? null,
		reason: started.kernel ? explain(started, options) : started.reason,
		environments,
		interpreters,
		installing: findInstaller(environments),
	};
}

type Started =
	| { readonly kernel: NonNullable<KernelReport["kernel"]>; readonly standIn: StandIn | undefined }
	| { readonly kernel?: undefined; readonly reason: string };

async function tryKernel({ cwd, env, settings, signal }: StatusOptions): Promise<Started> {
	const kernel = createKernel({ cwd, env, settings });
	let standIn: StandIn | undefined;
	kernel.watch((event) => {
		if (event.type === "stands_in") standIn = event;
	});
	try {
		await kernel.execute("None", { signal });
		const info = kernel.info();
		if (!info) return { reason: "A kernel started and ended at once." };
		return { kernel: { backend: info.backend, python: info.python, version: info.version }, standIn };
	} catch (error) {
		return { reason: errorText(error) };
	} finally {
		await kernel.dispose();
	}
}

function describe({ python, kind }: Candidate, probe: Probe): InterpreterReport {
	return {
		python,
		kind,
		version: probe.version ?? null,
		ipykernel: probe.ipykernel ?? null,
		unfit: whyUnfit(kind, probe) ?? null,
		lacked: probe.lacked ?? null,
		packages: probe.packages,
	};
}

function explain(
	{ kernel, standIn }: Extract<Started, { readonly kernel: object }>,
	{ env, settings }: StatusOptions,
): string {
	if (env.PRIME_AGENT_KERNEL && env.PRIME_AGENT_KERNEL !== "auto") return "PRIME_AGENT_KERNEL asks for it.";
	if (!env.PRIME_AGENT_KERNEL && settings.backend && settings.backend !== "auto") {
		return "The setting kernel.backend asks for it.";
	}
	if (standIn) return `${standIn.reason} ${standIn.advice}`;
	if (kernel.backend === "builtin") {
		return "No environment was made for the kernel: prime-agent kernel install makes one with ipykernel.";
	}
	if (env.PRIME_AGENT_KERNEL_PYTHON) return "The interpreter that PRIME_AGENT_KERNEL_PYTHON names has ipykernel.";
	if (settings.python) return "The interpreter that the setting kernel.python names has ipykernel.";
	return "The environment made for the kernel has ipykernel.";
}

function findInstaller(environments: readonly string[]): KernelReport["installing"] {
	for (const folder of environments) {
		const owner = findLeaseOwner(dirname(folder), INSTALL_LOCK);
		if (owner) return { pid: owner.pid, since: owner.since };
	}
	return null;
}
