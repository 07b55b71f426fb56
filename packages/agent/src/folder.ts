import { existsSync, realpathSync } from "node:fs";
import { join, parse } from "node:path";

function resolveQuietly(path: string): string | undefined {
	try {
		return realpathSync(path);
	} catch {
		// A home that does not exist is no folder to work in.
		return undefined;
	}
}

/** What to tell whoever starts an agent that may change files in a folder with far more than a project. */
export function warnOfFolder(folder: string, home: string | undefined): string | undefined {
	const real = resolveQuietly(folder) ?? folder;
	const advice =
		"the agent may change every file in it. Start it in the folder of a project, or with --permissions read-only.";
	if (real === parse(real).root) return `this is the root of the disk: ${advice}`;
	if (home && real === resolveQuietly(home)) return `this is your home folder: ${advice}`;
	return existsSync(join(real, ".ssh")) ? `this folder holds the keys of an account (.ssh): ${advice}` : undefined;
}
