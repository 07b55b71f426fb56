#!/usr/bin/env node
import { parseArguments, type Request, UsageError, usageLine, writeHelp } from "./arguments.ts";

function readRequest(): Request | undefined {
	try {
		return parseArguments(process.argv.slice(2));
	} catch (error) {
		if (!(error instanceof UsageError)) throw error;
		process.stderr.write(`error: ${error.message}\n${usageLine}\nSee agent --help.\n`);
		return undefined;
	}
}

const request = readRequest();
if (!request) process.exitCode = 1;
else if (request.kind === "help") process.stdout.write(writeHelp());
else {
	// Help and mistakes are answered without loading what an agent needs.
	const { runToExit } = await import("./exit.ts");
	await runToExit(request);
}
