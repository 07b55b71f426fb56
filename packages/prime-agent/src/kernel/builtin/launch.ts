import { statSync } from "node:fs";
import { join } from "node:path";
import type { Candidate } from "../interpreters.ts";
import type { KernelLink, LinkOptions } from "../link.ts";
import { startEarly, takeEarly } from "./early.ts";
import type { Forks } from "./forks.ts";
import { awaitGreeting, type Greeted } from "./greet.ts";
import { type GuardianProgram, spawnGuardian } from "./guardian.ts";

/** A kernel that runs, or what the interpreter lacked. */
export type Launched = { readonly link: KernelLink } | { readonly lacked: string };

/** Bounds of output, for tests; bytes a stream. */
export interface OutputLimits {
	readonly keep?: number | undefined;
	readonly spill?: number | undefined;
}

/** Where the Python package lies and how the kernel is set up. */
export interface LaunchOptions extends Pick<LinkOptions, "cwd" | "env"> {
	readonly runtimeDir: string;
	/** Where the skills of the program lie. */
	readonly skillsDir?: string | undefined;
	readonly limits?: OutputLimits | undefined;
	/** `prefer`: ipykernel where the interpreter has it; without one the built-in kernel. */
	readonly backend?: "ipykernel" | "prefer" | undefined;
}

/** How a kernel is launched. */
export interface BuiltinOptions extends LaunchOptions, LinkOptions {
	/** Where kernels are forked that need not be started from nothing. */
	readonly forks?: Forks | undefined;
	/** How long an interpreter may take to greet. */
	readonly startMs?: number;
}

/** Verdicts on interpreters that did not do, by path and modification time. */
const verdicts = new Map<string, string>();

/** Starts a kernel with this interpreter. Starting it is also the probe: an unfit one says so and ends. */
export async function launchBuiltin(candidate: Candidate, options: BuiltinOptions): Promise<Launched> {
	const key = verdictKey(candidate);
	const known = verdicts.get(key);
	if (known !== undefined) return { lacked: known };
	// without a pause where nothing is to be waited for: the first kernel of a program is wanted soon
	const isForked = options.backend !== undefined && options.forks?.has(programOf(candidate, options));
	const launched = (isForked ? await fork(candidate, options) : undefined) ?? (await start(candidate, options));
	// an ipykernel may be installed while this program runs
	const isLasting = "lacked" in launched && launched.permanent && options.backend !== "ipykernel";
	if (isLasting && !options.signal.aborted) verdicts.set(key, launched.lacked);
	return launched;
}

function verdictKey({ python, kind }: Candidate): string {
	const changed = statSync(python, { throwIfNoEntry: false })?.mtimeMs ?? 0;
	return `${kind}\0${python}\0${changed}`;
}

/** A kernel from a fork server; undefined where one has to be started from nothing. */
async function fork(candidate: Candidate, options: BuiltinOptions): Promise<Greeted | undefined> {
	const { forks, cwd, env, signal } = options;
	const program = programOf(candidate, options);
	const guardian = await forks?.fork(program, { cwd, env, words: settingsOf(options), signal });
	if (!guardian) return undefined;
	const forked = await awaitGreeting(guardian, options);
	if ("link" in forked || signal.aborted) return forked;
	await forks?.distrust(program);
	return undefined;
}

async function start(candidate: Candidate, options: BuiltinOptions): Promise<Greeted> {
	const program = wholeProgramOf(candidate, options);
	const guardian = takeEarly(program) ?? spawnGuardian(program);
	const started = await awaitGreeting(guardian, options);
	if ("link" in started && started.link.info.backend === "ipykernel")
		options.forks?.count(programOf(candidate, options));
	return started;
}

/** Begins to start a kernel for a session that is still being put together: the next one of this kind takes it over. */
export function launchEarly(candidate: Candidate, options: LaunchOptions): void {
	startEarly(wholeProgramOf(candidate, options));
}

function wholeProgramOf(candidate: Candidate, options: LaunchOptions): GuardianProgram {
	const { words, ...program } = programOf(candidate, options);
	return { ...program, words: [...words, ...settingsOf(options)] };
}

function programOf({ python, kind }: Candidate, { runtimeDir, cwd, env }: LaunchOptions): GuardianProgram {
	const words = ["-X", "utf8", "-I", join(runtimeDir, "rlm", "__main__.py")];
	if (kind === "installed") words.push("--no-venv");
	return { python, words, cwd, env };
}

function settingsOf({ skillsDir, backend, limits }: LaunchOptions): readonly string[] {
	return [
		...(skillsDir ? [`--skills=${skillsDir}`] : []),
		...(backend ? [`--backend=${backend}`] : []),
		...(limits?.keep === undefined ? [] : [`--limit=${limits.keep}`]),
		...(limits?.spill === undefined ? [] : [`--spill=${limits.spill}`]),
	];
}
