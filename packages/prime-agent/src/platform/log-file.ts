import { appendFileSync, renameSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { makeFolder } from "./folder.ts";

/** Bytes after which a log file makes place for a new one; one older file is kept. */
const MAX_BYTES = 2 * 1024 * 1024;

/** One line of the log. */
export interface LogRecord {
	readonly level: "debug" | "warning" | "error";
	readonly event: string;
	readonly [field: string]: unknown;
}

/** The program's own diary: JSON lines in one file (0600), without credentials. */
export interface LogFile {
	readonly path: string;
	/** Adds a line and tells whether it could. Never throws: a program does not fail because it cannot complain. */
	write(record: LogRecord): boolean;
}

/** A log that makes its file with the first line. `clean` takes credentials out of the text of a line. */
export function openLogFile(path: string, clean: (text: string) => string): LogFile {
	let isBroken = false;
	return {
		path,
		write(record) {
			if (isBroken) return false;
			try {
				makeFolder(dirname(path));
				rotate(path);
				const line = JSON.stringify({ time: new Date().toISOString(), pid: process.pid, ...record });
				appendFileSync(path, `${clean(line)}\n`, { mode: 0o600 });
			} catch {
				// There is nowhere left to say it; trying again for each line would only cost time.
				isBroken = true;
			}
			return !isBroken;
		},
	};
}

function rotate(path: string): void {
	const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
	if (size > MAX_BYTES) renameSync(path, `${path}.1`);
}
