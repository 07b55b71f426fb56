import { existsSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Makes a folder (0700) and those above it where they are missing. One by one: Node's `recursive` never returns where
 * the system refuses a folder with ENOENT, as `/proc` does.
 */
export function makeFolder(path: string): void {
	if (existsSync(path)) return;
	makeFolder(dirname(path));
	try {
		mkdirSync(path, { mode: 0o700 });
	} catch (error) {
		// Somebody else made it in this moment.
		if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
	}
}
