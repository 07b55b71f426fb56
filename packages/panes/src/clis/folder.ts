import { existsSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Makes a folder and those above it where they are missing. One by one: Node's `recursive` never returns where the
 * system refuses a folder with ENOENT, as `/proc` does.
 */
export function makeFolder(path: string, mode = 0o777): void {
	if (existsSync(path)) return;
	const parent = dirname(path);
	if (parent !== path) makeFolder(parent, mode);
	try {
		mkdirSync(path, { mode });
	} catch (error) {
		// Somebody else made it in this moment.
		if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
	}
}

/** The same for what is nobody else's business: folders that it makes are 0700. */
export function makePrivateFolder(path: string): void {
	makeFolder(path, 0o700);
}
