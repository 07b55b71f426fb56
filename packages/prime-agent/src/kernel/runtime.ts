import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { KernelUnavailable } from "./errors.ts";

/** From `packages/prime-agent/src/kernel` up to the root of the repository. */
const LEVELS = 5;

/**
 * The folder of the Python package: `runtime/` beside the bundle, or `prime-agent-runtime/src` above the source.
 * @throws {KernelUnavailable} when the program's own files are missing.
 */
export function findRuntime(): string {
	return findAbove(["runtime", join("dist", "runtime"), join("prime-agent-runtime", "src")], "rlm/__main__.py");
}

/**
 * The folder of the skills that come with the program: `skills/` beside the bundle, or in the package above the source.
 * @throws {KernelUnavailable} when the program's own files are missing.
 */
export function findSkills(): string {
	return findAbove(["skills"], "edit/SKILL.md");
}

/** The nearest of these folders at or above this file that holds `file`. */
function findAbove(names: readonly string[], file: string): string {
	let folder = dirname(fileURLToPath(import.meta.url));
	for (let level = 0; level < LEVELS; level += 1) {
		for (const name of names) {
			if (existsSync(join(folder, name, file))) return join(folder, name);
		}
		folder = dirname(folder);
	}
	throw new KernelUnavailable([], "The program's own Python files are missing: install it again.");
}
