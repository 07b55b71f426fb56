import { statSync } from "node:fs";
import { join } from "node:path";
import type { Candidate } from "../interpreters.ts";
import type { KernelLink, LinkOptions } from "../link.ts";
import type { Forks } from "./forks.ts";
import { awaitGreeting, type Greeted } from "./greet.ts";
import { spawnGuardian } from "./guardian.ts";

/** A kernel that runs, or what the interpreter lacked. */
export type Launched = { readonly link: KernelLink } | { readonly lacked: string };

/** Bounds of output, for tests; bytes a stream. */
export interface OutputLimits {
	readonly keep?: number | undefined;
	readonly spill?: number | undefined;
}

/** Where the Python package lies and how the kernel is set up. */
export interface BuiltinOptions extends LinkOptions {
	readonly runtimeDir: string;
	/** Where the skills of the program lie. */
	readonly skillsDir?: string | undefined;
	readonly limits?: OutputLimits | undefined;
	/** `prefer`: ipykernel where the interpreter has it; without one the built-in kernel. */
	readonly backend?: "ipykernel" | "prefer" | undefined;
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
	const { words, ...program } = programOf(candidate, options);
	const guardian = spawnGuardian({ ...program, words: [...words, ...settingsOf(options)] });
	const started = await awaitGreeting(guardian, options);
	if ("link" in started && started.link.info.backend === "ipykernel")
		options.forks?.count(programOf(candidate, options));
	return started;
}

function programOf({ python, kind }: Candidate, { runtimeDir, cwd, env }: BuiltinOptions) {
	const words = ["-X", "utf8", "-I", join(runtimeDir, "rlm", "__main__.py")];
	if (kind === "installed") words.push("--no-venv");
	return { python, words, cwd, env };
}

function settingsOf({ skillsDir, backend, limits }: BuiltinOptions): readonly string[] {
	return [
		...(skillsDir ? [`--skills=${skillsDir}`] : []),
		...(backend ? [`--backend=${backend}`] : []),
		...(limits?.keep === undefined ? [] : [`--limit=${limits.keep}`]),
		...(limits?.spill === undefined ? [] : [`--spill=${limits.spill}`]),
	];
}
