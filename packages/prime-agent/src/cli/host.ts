import type { Readable, Writable } from "node:stream";
import { write } from "../modes/output.ts";
import { cleanForTerminal } from "../modes/terminal-text.ts";
import type { Environment } from "../platform/paths.ts";
import type { Program } from "./program.ts";

/** The process as the command line sees it. */
export interface Host {
	readonly env: Environment;
	/** Absolute. */
	readonly cwd: string;
	readonly version: string;
	readonly stdin: Readable;
	/** Something was piped in. */
	readonly isPiped: boolean;
	readonly stdout: Writable & { readonly isTTY?: boolean };
	readonly stderr: Writable & { readonly isTTY?: boolean };
	/** Aborts when the process is asked to stop; the reason is an error for people, with `EPIPE` for a lost reader. */
	readonly signal: AbortSignal;
	/** Loads the heavy half of the program. */
	readonly loadProgram: () => Promise<Program>;
}

/** Whether the process stops because nobody reads its output any more; there is nobody to tell then. */
export function hasLostReader(host: Host): boolean {
	return (host.signal.reason as { code?: unknown } | undefined)?.code === "EPIPE";
}

/** Writes a line to stderr; on a terminal, cleaned of what could steer it. */
export function say(host: Host, line: string): void {
	host.stderr.write(`${host.stderr.isTTY ? cleanForTerminal(line) : line}\n`);
}

/** Writes to stdout; resolves when the text is out or its reader is gone, rejects when it cannot be written. */
export async function print(host: Host, text: string): Promise<void> {
	const lost = await write(host.stdout, host.stdout.isTTY ? cleanForTerminal(text) : text);
	if (lost !== undefined) throw new Error(lost);
}
