#!/usr/bin/env node
import { parseArguments, type Request, UsageError, usageLine, writeHelp } from "./arguments.ts";
import { flushOutput } from "./output.ts";

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

const code = await main();
await flushOutput();
process.exit(code);
