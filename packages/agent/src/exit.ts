import type { Writable } from "node:stream";
import { toOneLine } from "./output.ts";
import { type RunRequest, runAgent } from "./run.ts";

/** Runs one task and ends the process with its exit code, after everything that was written has left. */
export async function runToExit(request: RunRequest): Promise<never> {
	const code = await runAgent(request).catch((error: unknown) => showFault(error, request.debug));
	await Promise.all([process.stdout, process.stderr].map(flushStream));
	process.exit(code);
}

/** What must not happen, told as what it is; the trace is for those who look for the fault. */
function showFault(error: unknown, debug: boolean): number {
	const message = error instanceof Error ? error.message : String(error);
	process.stderr.write(`error: ${toOneLine(message)}\n`);
	if (debug && error instanceof Error) process.stderr.write(`${error.stack}\n`);
	return 1;
}

/** Resolves when everything written has left, or cannot leave any more. */
function flushStream(stream: Writable): Promise<void> {
	if (stream.destroyed || stream.writableEnded) return Promise.resolve();
	return new Promise((resolve) => {
		stream.once("error", () => resolve());
		stream.write("", () => resolve());
	});
}
