import { existsSync, readFileSync, writeFileSync } from "node:fs";
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

/** Makes a file that only its owner may read, for output that may hold secrets; what is in it stays. */
export function makePrivateFile(path: string): void {
	try {
		writeFileSync(path, "", { flag: "a", mode: 0o600 });
	} catch (error) {
		throw new PaneError("config", `${path} cannot be written: ${(error as Error).message}`, { cause: error });
	}
}
