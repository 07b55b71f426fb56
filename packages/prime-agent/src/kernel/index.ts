import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Environment } from "../platform/paths.ts";
import type { ClockPort, KernelPort } from "../session/ports.ts";
import { Forks } from "./builtin/forks.ts";
import { launchBuiltin, launchEarly, type OutputLimits } from "./builtin/launch.ts";
import { systemClock } from "./clock.ts";
import { filterEnvironment } from "./environment.ts";
import { type Attempt, KernelUnavailable } from "./errors.ts";
import { hasChosen, isFound, listCandidates } from "./interpreters.ts";
import { QueuedKernel } from "./kernel.ts";
import { readLimits, type SnapshotLimits, type SnapshotSettings } from "./limits.ts";
import type { KernelLink, LeftoverJob, LinkOptions } from "./link.ts";
import { findRuntime, findSkills } from "./runtime.ts";
import type { SnapshotOptions } from "./snapshot.ts";
import { explainLack, explainPlace, type StandIn } from "./stand-in.ts";
import { watchTermination } from "./termination.ts";

/** The `kernel.*` settings. */
export interface KernelSettings {
	/** `PRIME_AGENT_KERNEL` in the environment is stronger. */
	readonly backend?: "auto" | "ipykernel" | "builtin" | undefined;
	/** `PRIME_AGENT_KERNEL_PYTHON` in the environment is stronger. */
	readonly python?: string | undefined;
	/** How long one cell may run; 10 minutes when not given. */
	readonly cellTimeoutMs?: number | undefined;
	/** Names of variables that cells may see although they look like credentials. */
	readonly envPass?: readonly string[] | undefined;
	/** Bounds of snapshots. */
	readonly snapshot?: SnapshotSettings | undefined;
}

/** Options of `createKernel`. */
export interface KernelOptions {
	readonly cwd: string;
	readonly env: Environment;
	/** Where variables and long output outlive the kernel; without it they go with the kernel. */
	readonly artifactsDir?: string | undefined;
	readonly settings?: KernelSettings | undefined;
	/** Folder that holds the Python package `rlm`; found beside the source or the bundle when not given. */
	readonly runtimeDir?: string | undefined;
	readonly clock?: ClockPort | undefined;
	readonly interruptGraceMs?: number | undefined;
	readonly limits?: OutputLimits | undefined;
	/** Bounds of snapshots, for tests. */
	readonly snapshots?:
		| (Pick<SnapshotOptions, "restoreMs"> & { readonly limits?: Partial<SnapshotLimits>; readonly closeMs?: number })
		| undefined;
	/** False: an ipykernel is started from nothing also when others run here, for tests. */
	readonly forks?: boolean | undefined;
	/** False: it starts with its first cell and not ahead of it, because none is to be expected. */
	readonly startsAhead?: boolean | undefined;
	/** Told once per ended kernel about background processes that were still running and have been ended. */
	readonly onLeftovers?: ((jobs: readonly LeftoverJob[]) => void) | undefined;
}

/** A kernel with what the product says about it. */
export interface Kernel extends KernelPort {
	/** Names of environment variables that cells do not get; to be said once. */
	readonly leftOut: readonly string[];
}

export { dropEarly as dropPrestarted } from "./builtin/early.ts";
export type { LeftoverJob } from "./link.ts";

const CELL_TIMEOUT_MS = 10 * 60_000;
const INTERRUPT_GRACE_MS = 10_000;
/** In the folder of the session, which outlives its kernels. */
const SNAPSHOT_FILE = "kernel-state";
/** How much longer than it may take the end waits for a last snapshot; whoever sends SIGTERM kills soon after. */
const CLOSE_GRACE_MS = 2000;
const TERMINATION_MS = 500;

/**
 * A kernel that starts at `prewarm()` or at its first cell; one that is probably an ipykernel starts at once, unless
 * `startsAhead` is false.
 */
export function createKernel(options: KernelOptions): Kernel {
	const { settings = {}, artifactsDir: folder } = options;
	// a program that runs in a cell has the folder of that cell's session in its environment
	const own = { ...options.env, PRIME_AGENT_ARTIFACTS_DIR: folder };
	const { env, leftOut } = filterEnvironment(own, settings.envPass);
	const isTerminating = watchTermination();
	const limits = { ...readLimits(settings.snapshot), ...options.snapshots?.limits };
	const closeMs = options.snapshots?.closeMs ?? limits.seconds * 1000 + CLOSE_GRACE_MS;
	const forks = new Forks(options.forks ?? true);
	const kernel = new QueuedKernel({
		start: ({ onStandIn, ...link }) => startKernel(options, forks, { ...link, cwd: options.cwd, env }, onStandIn),
		release: () => forks.close(),
		startsAhead: options.startsAhead ?? true,
		clock: options.clock ?? systemClock,
		cellTimeoutMs: settings.cellTimeoutMs ?? CELL_TIMEOUT_MS,
		interruptGraceMs: options.interruptGraceMs ?? INTERRUPT_GRACE_MS,
		onLeftovers: (jobs) => options.onLeftovers?.(jobs),
		snapshots: folder
			? { ...options.snapshots, limits, path: join(folder, SNAPSHOT_FILE), cwd: options.cwd }
			: undefined,
		closeMs: () => (isTerminating() ? TERMINATION_MS : closeMs),
	});
	if (startsEarly(options)) kernel.prewarm();
	return Object.assign(kernel, { leftOut });
}

/**
 * Begins to start the kernel that `createKernel` will most likely be asked for, so that the session can be put together
 * meanwhile; nothing where that would be the built-in kernel, or could not be told. `dropPrestarted` ends one that nobody
 * has taken.
 */
export function prestartKernel(options: Pick<KernelOptions, "cwd" | "env" | "settings">): void {
	const { cwd, settings = {} } = options;
	if (!startsEarly(options)) return;
	const [candidate] = listCandidates({ env: options.env, python: settings.python });
	if (!candidate || !existsSync(cwd)) return;
	const { env } = filterEnvironment(options.env, settings.envPass);
	const backend = backendOf(options) === "ipykernel" ? "ipykernel" : "prefer";
	launchEarly(candidate, { cwd, env, backend, runtimeDir: findRuntime(), skillsDir: findSkills() });
}

/**
 * Whether to start at once: an ipykernel takes longer than a model that answers fast. The built-in kernel is ready in a
 * moment and would only take time from the first request.
 */
function startsEarly({ env, settings }: Pick<KernelOptions, "env" | "settings">): boolean {
	const backend = backendOf({ env, settings });
	return backend === "ipykernel" || (backend === "auto" && hasChosen({ env, python: settings?.python }));
}

function backendOf({ env, settings }: Pick<KernelOptions, "env" | "settings">): string {
	return env.PRIME_AGENT_KERNEL || settings?.backend || "auto";
}

const ADVICE =
	"Install Python 3.10 or newer (Debian: apt-get install python3), or name one in PRIME_AGENT_KERNEL_PYTHON.";

const NAMED_ADVICE = "Name a Python 3.10 or newer there, or leave it out, and a Python of this machine is used.";

const IPYKERNEL_ADVICE =
	"Run prime-agent kernel install, or install ipykernel 6 (Debian: apt-get install python3-ipykernel), name a Python that " +
	"has it in PRIME_AGENT_KERNEL_PYTHON, or use the built-in kernel: PRIME_AGENT_KERNEL=builtin.";

/** An interpreter of which nobody knows that it has ipykernel, although it was chosen for that. */
const UNKNOWN_LACK = "has no ipykernel 6";

async function startKernel(
	options: KernelOptions,
	forks: Forks,
	link: LinkOptions,
	onStandIn: (standIn: StandIn) => void,
): Promise<KernelLink> {
	const { settings = {}, limits } = options;
	const backend = backendOf(options);
	if (backend !== "auto" && backend !== "builtin" && backend !== "ipykernel") {
		const known = '"auto", "ipykernel" or "builtin"';
		const place = options.env.PRIME_AGENT_KERNEL ? "PRIME_AGENT_KERNEL" : "The setting kernel.backend";
		throw new KernelUnavailable([], `${place} names the back end "${backend}", which is not there. Use ${known}.`);
	}
	if (!existsSync(options.cwd)) {
		throw new KernelUnavailable([], `The folder ${options.cwd} is not there, so no kernel can start in it.`);
	}
	const runtimeDir = options.runtimeDir ?? findRuntime();
	const skillsDir = findSkills();
	const attempts: Attempt[] = [];
	let standIn: StandIn | undefined;
	const candidates = listCandidates({ env: options.env, python: settings.python });
	for (const candidate of candidates) {
		const common = { ...link, runtimeDir, skillsDir, limits, forks };
		// an environment made for the kernel may have ipykernel; any Python of the machine is not asked for it
		const wish = backend === "auto" && candidate.kind !== "installed" ? "prefer" : undefined;
		let launched = await launchBuiltin(candidate, {
			...common,
			backend: backend === "ipykernel" ? "ipykernel" : wish,
		});
		if ("lacked" in launched && wish && !link.signal.aborted) {
			standIn ??= explainLack(candidate, launched.lacked, options.env);
			launched = await launchBuiltin(candidate, common);
		}
		if ("link" in launched) {
			if (backend === "auto" && launched.link.info.backend === "builtin") {
				standIn ??= wish ? explainLack(candidate, UNKNOWN_LACK, options.env) : explainPlace(options.env);
				if (standIn) onStandIn(standIn);
			}
			return launched.link;
		}
		attempts.push({ python: candidate.python, lacked: launched.lacked });
		link.signal.throwIfAborted();
	}
	const wrong = candidates.find((candidate) => candidate.kind === "explicit");
	const isThere = wrong === undefined || isFound(wrong.python, link);
	if (wrong && (!isThere || backend !== "ipykernel")) {
		const place = options.env.PRIME_AGENT_KERNEL_PYTHON ? "PRIME_AGENT_KERNEL_PYTHON" : "The setting kernel.python";
		const what = isThere ? "which does not fit" : "which is not there";
		throw new KernelUnavailable(attempts, `${place} names ${wrong.python}, ${what}. ${NAMED_ADVICE}`);
	}
	if (backend === "ipykernel") throw new KernelUnavailable(attempts, IPYKERNEL_ADVICE);
	throw new KernelUnavailable(attempts, attempts.length > 0 ? ADVICE : `No Python was found. ${ADVICE}`);
}
