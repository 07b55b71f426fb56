import { accessSync, constants, rmSync, statSync } from "node:fs";
import { basename, dirname } from "node:path";
import { errorText } from "../lib/text.ts";
import { makeFolder } from "../platform/folder.ts";
import type { Environment } from "../platform/paths.ts";
import type { KernelInstalled } from "../protocol/kernel-report.ts";
import type { ChildOptions } from "./child.ts";
import { type Attempt, KernelInstallFailed } from "./errors.ts";
import { createKernel, type KernelSettings } from "./index.ts";
import { listCandidates, managedFolders, pythonOf } from "./interpreters.ts";
import { takeInstallLock } from "./lock.ts";
import { type Probe, type ProbeOptions, probeInterpreter, whyUnfit } from "./probe.ts";
import { findRuntime } from "./runtime.ts";
import { hasUv, makeUvVenv, UV_PYTHON } from "./uv.ts";
import { EXTRAS, makePackagedVenv, makeSystemVenv, moveVenv, sweepLeftovers } from "./venv.ts";

/** How to install. */
export interface InstallOptions {
	readonly cwd: string;
	readonly env: Environment;
	readonly settings: KernelSettings;
	/** Make the environment with this interpreter and no other. */
	readonly python?: string | undefined;
	/** Take packages from this folder of wheels and from nowhere else. */
	readonly wheels?: string | undefined;
	/** The longest that all of it may take, waiting for another installation included. */
	readonly timeoutMs: number;
	/** Calls the installation off; nothing is changed then. */
	readonly signal: AbortSignal;
	/** Takes a line about what happens. */
	readonly say: (line: string) => void;
}

const ADVICE =
	"Install ipykernel for a Python of the system (Debian: apt-get install python3-ipykernel), or let pip or uv reach an " +
	"index or a folder of wheels (--wheels), and run it again. Until then cells run on the built-in kernel.";

/**
 * Makes the environment for the kernel: with packages of its own, or else over a Python that has ipykernel. It is made
 * beside its place, tried with a real cell, and only then moved there.
 * @throws {KernelInstallFailed} with each interpreter and what it lacked; also when time is up or `signal` aborts.
 */
export async function installKernel(options: InstallOptions): Promise<KernelInstalled> {
	const limit = AbortSignal.timeout(options.timeoutMs);
	const signal = AbortSignal.any([options.signal, limit]);
	const folder = chooseFolder(options.env);
	const parent = dirname(folder);
	try {
		makeFolder(parent);
		const lease = await takeInstallLock(parent, options.say, signal);
		try {
			sweepLeftovers(parent, basename(folder));
			return await new Installation(options, folder, signal).run();
		} finally {
			lease.release();
		}
	} catch (error) {
		if (error instanceof KernelInstallFailed) throw error;
		if (options.signal.aborted)
			throw new KernelInstallFailed("The installation was stopped.", [], "Nothing was changed.", { cause: error });
		if (limit.aborted) {
			const what = `The installation was stopped after ${options.timeoutMs / 1000} seconds.`;
			throw new KernelInstallFailed(what, [], "Nothing was changed. --timeout <seconds> gives it more time.", {
				cause: error,
			});
		}
		throw new KernelInstallFailed(
			`The kernel cannot be installed in ${folder}: ${errorText(error)}`,
			[],
			"Nothing was changed.",
			{ cause: error },
		);
	}
}

/** The first place that can be written to. */
function chooseFolder(env: Environment): string {
	const folders = managedFolders(env);
	return folders.find((folder) => isWritable(dirname(folder))) ?? (folders[0] as string);
}

function isWritable(folder: string): boolean {
	let existing = folder;
	while (statSync(existing, { throwIfNoEntry: false }) === undefined && dirname(existing) !== existing) {
		existing = dirname(existing);
	}
	try {
		accessSync(existing, constants.W_OK);
		return true;
	} catch {
		// a folder of somebody else or a read-only disk: the next place may do
		return false;
	}
}

interface Base {
	readonly python: string;
	readonly probe: Probe;
}

class Installation {
	readonly #options: InstallOptions;
	readonly #folder: string;
	readonly #work: string;
	readonly #signal: AbortSignal;
	readonly #probing: ProbeOptions;
	readonly #attempts: Attempt[] = [];

	constructor(options: InstallOptions, folder: string, signal: AbortSignal) {
		this.#options = options;
		this.#folder = folder;
		this.#work = `${folder}.new-${process.pid}`;
		this.#signal = signal;
		this.#probing = { runtimeDir: findRuntime(), env: options.env, cwd: options.cwd, signal };
	}

	async run(): Promise<KernelInstalled> {
		try {
			const fit = await this.#findFit();
			const byUv = await this.#tryUv(fit);
			if (byUv) return byUv;
			const makers = this.#keepMakers(fit);
			const packaged = await this.#tryPackages(makers);
			if (packaged) return packaged;
			const why = this.#attempts.at(-1)?.lacked;
			const system = await this.#trySystem(makers);
			if (system) return why === undefined ? system : { ...system, why };
			throw new KernelInstallFailed("No environment for the kernel could be made.", this.#attempts, ADVICE);
		} finally {
			rmSync(this.#work, { recursive: true, force: true });
		}
	}

	/** Interpreters on which a kernel can run; what the others lack is noted. */
	async #findFit(): Promise<readonly Base[]> {
		const { env, python } = this.#options;
		const { PRIME_AGENT_KERNEL_PYTHON: _named, ...others } = env;
		const wanted =
			python === undefined
				? listCandidates({ env: others }).filter((one) => one.kind === "installed")
				: [{ python, kind: "explicit" as const }];
		const bases: Base[] = [];
		for (const candidate of wanted) {
			const probe = await probeInterpreter(candidate.python, this.#probing);
			const lacked = whyUnfit(candidate.kind, probe);
			if (lacked === undefined) bases.push({ python: candidate.python, probe });
			else this.#attempts.push({ python: candidate.python, lacked });
		}
		return bases;
	}

	/** Those that can make environments by themselves; what the others lack is noted. */
	#keepMakers(bases: readonly Base[]): readonly Base[] {
		return bases.filter(({ python, probe }) => {
			if (!probe.canMakeEnvironments) {
				this.#attempts.push({ python, lacked: "has no venv module (Debian: apt-get install python3-venv)" });
			}
			return probe.canMakeEnvironments;
		});
	}

	/** With uv, where it is on PATH; it brings a Python along where the machine has none that fits. */
	async #tryUv([base]: readonly Base[]): Promise<KernelInstalled | undefined> {
		const { python: wanted, say } = this.#options;
		if (base === undefined && wanted !== undefined) return undefined;
		const children = this.#childOptions();
		if (!(await hasUv(children))) return undefined;
		const python = base?.python ?? UV_PYTHON;
		const what = base ? `${python} (Python ${base.probe.version})` : `a Python ${python} of its own`;
		say(`Making an environment with uv and ${what}, and installing ipykernel into it.`);
		const name = base?.python ?? `Python ${UV_PYTHON} of uv`;
		return this.#finish(name, "packages", () => makeUvVenv(python, this.#work, this.#options, children));
	}

	async #tryPackages(bases: readonly Base[]): Promise<KernelInstalled | undefined> {
		const base = bases.find(({ probe }) => probe.pip);
		if (!base?.probe.pip) {
			for (const { python } of bases)
				this.#attempts.push({ python, lacked: "has no pip (Debian: apt-get install python3-venv)" });
			return undefined;
		}
		const { python, probe } = base;
		this.#options.say(
			`Making an environment with ${python} (Python ${probe.version}) and installing ipykernel into it.`,
		);
		return this.#finish(python, "packages", () =>
			makePackagedVenv({ python, pip: probe.pip ?? "own" }, this.#work, this.#options, this.#childOptions()),
		);
	}

	async #trySystem(bases: readonly Base[]): Promise<KernelInstalled | undefined> {
		for (const base of bases) {
			const { python, probe } = base;
			if (probe.lacked !== undefined) {
				this.#attempts.push({ python, lacked: `${probe.lacked} of its own` });
				continue;
			}
			this.#options.say(`Making an environment over ${python}, which has ipykernel ${probe.ipykernel}.`);
			const made = await this.#finish(python, "system", () => makeSystemVenv(python, this.#work, this.#childOptions()));
			if (made) return made;
		}
		return undefined;
	}

	/** Makes an environment, tries it and moves it to its place; undefined, with the reason noted, when it does not work. */
	async #finish(
		base: string,
		source: KernelInstalled["source"],
		make: () => Promise<string | undefined>,
	): Promise<KernelInstalled | undefined> {
		rmSync(this.#work, { recursive: true, force: true });
		const problem = (await make()) ?? (await this.#tryOut());
		if (problem !== undefined) {
			this.#attempts.push({ python: base, lacked: problem });
			return undefined;
		}
		const probe = await probeInterpreter(pythonOf(this.#work), this.#probing);
		moveVenv(this.#work, this.#folder);
		return {
			folder: this.#folder,
			base,
			version: probe.version ?? "",
			ipykernel: probe.ipykernel ?? "",
			source,
			missing: EXTRAS.filter((name) => !probe.packages.includes(name)),
			notes: this.#findHindrances(),
		};
	}

	/** Runs a cell on the new environment. */
	async #tryOut(): Promise<string | undefined> {
		const env = {
			...this.#options.env,
			PRIME_AGENT_KERNEL: "ipykernel",
			PRIME_AGENT_KERNEL_PYTHON: pythonOf(this.#work),
		};
		const kernel = createKernel({ cwd: this.#options.cwd, env });
		try {
			const cell = await kernel.execute("6 * 7", { signal: this.#signal });
			this.#signal.throwIfAborted();
			return cell.result === "42" ? undefined : `its ipykernel does not run cells: ${cell.error?.value ?? cell.status}`;
		} catch (error) {
			this.#signal.throwIfAborted();
			return `its ipykernel does not start: ${errorText(error).split("\n").at(-2)?.trim() ?? errorText(error)}`;
		} finally {
			await kernel.dispose();
		}
	}

	#findHindrances(): readonly string[] {
		const { env, settings } = this.#options;
		const backend = env.PRIME_AGENT_KERNEL ? "PRIME_AGENT_KERNEL" : "The setting kernel.backend";
		const python = env.PRIME_AGENT_KERNEL_PYTHON ? "PRIME_AGENT_KERNEL_PYTHON" : "The setting kernel.python";
		const named = env.PRIME_AGENT_KERNEL_PYTHON || settings.python;
		return [
			...((env.PRIME_AGENT_KERNEL || settings.backend) === "builtin"
				? [`${backend} asks for the built-in kernel, so sessions do not use it.`]
				: []),
			...(named ? [`${python} names ${named}, so sessions use that and not this environment.`] : []),
		];
	}

	#childOptions(): ChildOptions {
		const { env, cwd, say } = this.#options;
		return {
			env: { ...env, PIP_USER: "0", PIP_REQUIRE_VIRTUALENV: "0" },
			cwd,
			signal: this.#signal,
			onLine: (line) => {
				if (/^(Downloading|Installing collected)/.test(line.trim())) say(`  ${line.trim()}`);
			},
		};
	}
}
