import { realpathSync } from "node:fs";
import { resolve } from "node:path";

/** The absolute path of a file without links in it; of one that is not there, the path as it was named. */
export function findRealPath(path: string): string {
	try {
		return realpathSync(path);
	} catch {
		// Whoever opens it says why that cannot be done.
		return resolve(path);
	}
}
