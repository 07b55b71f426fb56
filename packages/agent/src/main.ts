#!/usr/bin/env node
import { parseArguments, type Request, UsageError, usageLine, writeHelp } from "./arguments.ts";
import { flushOutput, toOneLine } from "./output.ts";

function readRequest(): Request | undefined {
	try {
		return parseArguments(process.argv.slice(2));
	} catch (error) {
		if (!(error instanceof UsageError)) throw error;
		process.stderr.write(`error: ${error.message}\n${usageLine}\nSee agent --help.\n`);
		return undefined;
	}
}

async function main(): Promise<number> {
	const request = readRequest();
	if (!request) return 1;
	if (request.kind === "help") {
		process.stdout.write(writeHelp());
		return 0;
	}
	// Help and mistakes are answered without loading what an agent needs.
	const { runAgent } = await import("./run.ts");
	return runAgent(request);
}

/** What must not happen, told as what it is; the trace is for those who look for the fault. */
function showFault(error: unknown): number {
	const message = error instanceof Error ? error.message : String(error);
	process.stderr.write(`error: ${toOneLine(message)}\n`);
	if (process.argv.includes("--debug") && error instanceof Error) process.stderr.write(`${error.stack}\n`);
	return 1;
}

const code = await main().catch(showFault);
await flushOutput();
process.exit(code);
