import { existsSync, readFileSync } from "node:fs";
import { PaneError } from "../errors.ts";

/** Whether a file or folder is there now. */
export function fileExists(path: string): boolean {
	return existsSync(path);
}

/** The text of a file; throws `PaneError` with the path and the reason. */
export function readTextFile(path: string): string {
	try {
		return readFileSync(path, "utf8");
	} catch (error) {
		throw new PaneError("config", `${path} cannot be read: ${(error as Error).message}`, { cause: error });
	}
}
