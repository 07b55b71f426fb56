import { closeSync, constants, openSync, readSync } from "node:fs";

/** The terminal behind standard input under a name of its own, so that opening it changes nothing for others. */
const names = ["/proc/self/fd/0", "/dev/tty"];

function openTerminal(): number | undefined {
	for (const name of names) {
		try {
			return openSync(name, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
		} catch {
			// Systems differ in the names they know.
		}
	}
	return undefined;
}

const mostReads = 10_000;

/** Drops what has been typed into the terminal of standard input and not been read yet; waits for nothing. */
export function discardTypedAhead(): void {
	const terminal = openTerminal();
	if (terminal === undefined) return;
	const buffer = Buffer.alloc(4096);
	try {
		for (let reads = 0; reads < mostReads; reads++) readSync(terminal, buffer);
	} catch (error) {
		// Nothing is left (EAGAIN), or the terminal was closed (EIO), which the reader will meet as well.
		const { code } = error as NodeJS.ErrnoException;
		if (code !== "EAGAIN" && code !== "EIO") throw error;
	} finally {
		closeSync(terminal);
	}
}
