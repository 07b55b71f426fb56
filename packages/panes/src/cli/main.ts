import type { PaneErrorCode } from "../errors.ts";
import type { Command, CommandWorld } from "./command.ts";
import { COMMANDS } from "./index.ts";

/** Verbs whose exit code tells a missing pane (2) and a tmux failure (3) from other failures. */
const PRECISE = new Set(["open", "ready", "deliver"]);

/** Runs a command line and returns the exit code; every failure ends as a message on standard error. */
export async function runMain(words: readonly string[]): Promise<number> {
	const [name = "--help", ...rest] = words;
	if (name === "--help" || name === "-h" || name === "help") return printHelp(rest[0]);
	if (name === "--version" || name === "-V") {
		write(process.stdout, await readVersion());
		return 0;
	}
	const entry = COMMANDS.find((command) => command.name === name || command.aliases?.includes(name));
	if (entry === undefined) return rejectName(name);
	const command = await entry.load();
	const end = rest.indexOf("--");
	if ((end < 0 ? rest : rest.slice(0, end)).some((word) => word === "--help" || word === "-h")) {
		return printHelp(name, command);
	}
	return runCommand(command, name, rest);
}

async function runCommand(command: Command, name: string, words: readonly string[]): Promise<number> {
	const stop = new AbortController();
	const onSignal = (signal: NodeJS.Signals) => stop.abort(new Error(`stopped by ${signal}`));
	process.once("SIGINT", onSignal);
	process.once("SIGTERM", onSignal);
	try {
		const { parseLine } = await import("./parse.ts");
		return await command.run(parseLine(command.spec, words), makeWorld(stop.signal));
	} catch (error) {
		return reportFailure(name, error, words.includes("--json"));
	} finally {
		process.removeListener("SIGINT", onSignal);
		process.removeListener("SIGTERM", onSignal);
	}
}

async function reportFailure(name: string, error: unknown, isJson: boolean): Promise<number> {
	const { PaneError } = await import("../errors.ts");
	const message = error instanceof Error ? error.message : String(error);
	const code = error instanceof PaneError ? error.code : "failed";
	const snippet = error instanceof PaneError ? error.snippet : undefined;
	write(process.stderr, `agent-tmux ${name}: ${neutralise(message)}`);
	if (snippet) write(process.stderr, `--- last rows ---\n${neutralise(snippet)}`);
	if (isJson) {
		write(process.stdout, JSON.stringify({ ok: false, error: { code, message, reason: code } }));
	}
	return exitCodeOf(name, code);
}

/** Exit code of a failure: 2 for a wrong call, else 1, except where a verb tells more. */
export function exitCodeOf(name: string, code: PaneErrorCode | "failed"): number {
	if (code === "usage") return 2;
	if (!PRECISE.has(name)) return 1;
	return code === "pane_missing" ? 2 : code === "tmux" ? 3 : 1;
}

function makeWorld(signal: AbortSignal): CommandWorld {
	return {
		env: process.env,
		cwd: process.cwd(),
		signal,
		print: (text) => write(process.stdout, text),
		note: (text) => write(process.stderr, neutralise(text)),
		readInput: async () => {
			let text = "";
			process.stdin.setEncoding("utf8");
			for await (const chunk of process.stdin) text += chunk;
			return text;
		},
	};
}

async function printHelp(name: string | undefined, loaded?: Command): Promise<number> {
	const { commandHelp, overview } = await import("./help.ts");
	if (name === undefined) {
		write(process.stdout, overview());
		return 0;
	}
	const command = loaded ?? (await COMMANDS.find((entry) => entry.name === name)?.load());
	if (command === undefined) return rejectName(name);
	write(process.stdout, commandHelp(command.spec));
	return 0;
}

function rejectName(name: string): number {
	const near = COMMANDS.find((entry) => entry.name.startsWith(name.slice(0, 3)))?.name;
	const hint = near === undefined ? "" : ` Did you mean "${near}"?`;
	write(process.stderr, `agent-tmux: unknown command "${neutralise(name)}".${hint} See: agent-tmux --help`);
	return 2;
}

async function readVersion(): Promise<string> {
	const { readFile } = await import("node:fs/promises");
	const text = await readFile(new URL("../../package.json", import.meta.url), "utf8");
	return (JSON.parse(text) as { version: string }).version;
}

/** Screens and names come from other programs; their control characters must not reach this terminal. */
function neutralise(text: string): string {
	return text.replace(/[\p{Cc}]/gu, (char) => (char === "\n" || char === "\t" ? char : "\ufffd"));
}

function write(stream: NodeJS.WriteStream, text: string): void {
	stream.write(`${text}\n`);
}
