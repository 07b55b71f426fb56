import { join } from "node:path";
import { isJsonObject } from "../lib/json.ts";
import { runChild } from "./child.ts";
import { complaintOf, lastLine } from "./complaint.ts";
import type { Candidate } from "./interpreters.ts";
import { EXTRAS } from "./venv.ts";

/** What an interpreter has. */
export interface Probe {
	/** For example `3.11.2`; undefined when it did not answer. */
	readonly version?: string;
	/** The virtual environment that it belongs to. */
	readonly environment?: string;
	/** The version of ipykernel, also of one that is not supported. */
	readonly ipykernel?: string;
	/** Why no kernel of any kind can run on it. */
	readonly unfit?: string;
	/** Why no ipykernel can run on it. */
	readonly lacked?: string;
	/** Those of the usual packages that it has. */
	readonly packages: readonly string[];
	readonly canMakeEnvironments: boolean;
	/** It can install packages into an environment that it makes: with a pip of that environment, or with its own. */
	readonly pip?: "bundled" | "own";
}

/** What a probe runs with. */
export interface ProbeOptions {
	readonly runtimeDir: string;
	readonly env: Readonly<Record<string, string | undefined>>;
	readonly cwd: string;
	readonly signal: AbortSignal;
	/** How long an interpreter may take to answer. */
	readonly timeoutMs?: number;
}

const TIMEOUT_MS = 15_000;

/** Asks an interpreter what it has. Rejects only when `signal` aborts. */
export async function probeInterpreter(python: string, options: ProbeOptions): Promise<Probe> {
	const limit = AbortSignal.timeout(options.timeoutMs ?? TIMEOUT_MS);
	const nothing = { packages: [], canMakeEnvironments: false };
	try {
		const words = [python, "-X", "utf8", "-I", join(options.runtimeDir, "rlm", "probe.py"), ...EXTRAS];
		const ended = await runChild(words, { ...options, signal: AbortSignal.any([options.signal, limit]) });
		if (ended.code === 0) return readAnswer(ended.stdout);
		return { ...nothing, unfit: complaintOf(ended.said) || `it ended with exit code ${ended.code}` };
	} catch (error) {
		options.signal.throwIfAborted();
		if (!limit.aborted) throw error;
		return { ...nothing, unfit: "it did not answer in time" };
	}
}

/** Why no kernel can run on an interpreter; one that was only found must not be that of the project's environment. */
export function whyUnfit(kind: Candidate["kind"], { environment, unfit }: Probe): string | undefined {
	const isForeign = kind === "installed" && environment !== undefined;
	return isForeign ? `belongs to the virtual environment ${environment}` : unfit;
}

function readAnswer(stdout: string): Probe {
	const answer = parse(lastLine(stdout));
	if (!answer) return { packages: [], canMakeEnvironments: false, unfit: "it answered with something else" };
	const text = (name: string) => (typeof answer[name] === "string" ? { [name]: answer[name] } : {});
	const old = answer.old === true ? { unfit: `is Python ${answer.version}; 3.10 or newer is needed` } : {};
	const pip = answer.ensurepip === true ? "bundled" : answer.pip === true ? "own" : undefined;
	return {
		...text("version"),
		...text("environment"),
		...text("ipykernel"),
		...text("lacked"),
		...old,
		packages: Array.isArray(answer.packages) ? answer.packages.map(String) : [],
		canMakeEnvironments: answer.venv === true,
		...(pip ? { pip } : {}),
	};
}

function parse(line: string): Readonly<Record<string, unknown>> | undefined {
	try {
		const value: unknown = JSON.parse(line);
		return isJsonObject(value) ? value : undefined;
	} catch {
		// whatever it is, it was not written by the probe
		return undefined;
	}
}
