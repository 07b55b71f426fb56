#!/usr/bin/env node
import manifest from "../package.json" with { type: "json" };
import type { Host } from "./cli/host.ts";
import type { Program } from "./cli/program.ts";

process.exit(await main(process.argv.slice(2)));

/** Turns the process into a host for the command line; resolves with the exit code. */
async function main(argv: readonly string[]): Promise<number> {
	const stopping = new AbortController();
	const stop = (signal: NodeJS.Signals) => {
		// The second request comes from somebody who will not wait.
		if (stopping.signal.aborted) process.exit(1);
		stopping.abort(new Error(`Stopped by ${signal}.`));
	};
	for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, stop);
	// Nobody reads any more: there is nothing left to work for.
	process.stdout.on("error", (error) => stopping.abort(error));
	// Without stderr there is nobody to complain to, but the answer may still have its reader.
	process.stderr.on("error", () => undefined);

	// Scripts ask this in loops; the command line need not be loaded to answer.
	if (argv.length === 1 && argv[0] === "--version") {
		const { write } = await import("./modes/output.ts");
		const lost = await write(process.stdout, `${manifest.version}\n`);
		if (lost !== undefined) process.stderr.write(`Error: ${lost}\n`);
		return lost === undefined ? 0 : 1;
	}

	const [{ runCommandLine }, { isPiped }, { reportMistake }] = await Promise.all([
		import("./cli/command-line.ts"),
		import("./cli/piped-input.ts"),
		import("./cli/faults.ts"),
	]);
	// What libraries are told by way of variables is not for the programs that are started.
	const env = { ...process.env };
	let program: Promise<Program> | undefined;
	const host: Host = {
		env,
		get cwd() {
			return currentFolder();
		},
		version: manifest.version,
		get stdin() {
			return process.stdin;
		},
		isPiped: isPiped(0),
		stdout: process.stdout,
		stderr: process.stderr,
		signal: stopping.signal,
		loadProgram: () => {
			program ??= import("./program.ts").then(({ createProgram }) => createProgram(env, manifest.version));
			return program;
		},
	};
	const die = (during: string) => (error: unknown) => {
		reportMistake(error, during, host).finally(() => process.exit(1));
	};
	process.once("uncaughtException", die("uncaught exception"));
	process.once("unhandledRejection", die("unhandled rejection"));
	return runCommandLine(argv, host);
}

/** The caller's folder. Somebody may have removed it; a command that does not need it does not ask. */
function currentFolder(): string {
	try {
		return process.cwd();
	} catch (cause) {
		throw new Error("The current folder does not exist any more. Change into another one.", { cause });
	}
}
