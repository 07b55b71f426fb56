import { existsSync } from "node:fs";
import type { Environment } from "../platform/paths.ts";
import { type Candidate, managedFolders } from "./interpreters.ts";

/** Why the built-in kernel serves where ipykernel was meant to, and what to do about it; both are whole sentences. */
export interface StandIn {
	readonly reason: string;
	readonly advice: string;
}

const MAKE = "prime-agent kernel install makes one with ipykernel.";
const MAKE_ANEW = "prime-agent kernel install makes it anew.";
const ENVIRONMENT = "The environment made for the kernel";

/** What is said of an interpreter that was to have ipykernel; `lacked` is the end of a sentence about it. */
export function explainLack({ python, kind }: Candidate, lacked: string, env: Environment): StandIn {
	const what = joinLack(lacked);
	if (kind !== "explicit") return { reason: `${ENVIRONMENT} (${python}) ${what}.`, advice: MAKE_ANEW };
	const named = env.PRIME_AGENT_KERNEL_PYTHON ? "PRIME_AGENT_KERNEL_PYTHON" : "the setting kernel.python";
	return {
		reason: `The interpreter that ${named} names (${python}) ${what}.`,
		advice: `Install ipykernel 6 there, or leave ${named} out: ${MAKE}`,
	};
}

/** What is said of a place for an environment where none can be used; undefined where nobody ever made or named one. */
export function explainPlace(env: Environment): StandIn | undefined {
	const folders = managedFolders(env);
	const broken = folders.find((folder) => existsSync(folder));
	if (broken !== undefined) {
		return { reason: `${ENVIRONMENT} (${broken}) has no Python that can run any more.`, advice: MAKE_ANEW };
	}
	if (!env.PRIME_AGENT_KERNEL_VENV) return undefined;
	return { reason: `PRIME_AGENT_KERNEL_VENV names ${folders[0]}, and no environment is there.`, advice: MAKE };
}

/** Interpreters speak of themselves ("has no ipykernel"), programs that failed say anything. */
function joinLack(lacked: string): string {
	const text = lacked.trim().replace(/\.$/, "");
	return /^(has|is|belongs) /.test(text) ? text : `did not start ipykernel: ${text}`;
}
