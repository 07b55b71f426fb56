import { constants } from "node:os";
import type { CommandResult, ExecutionEnvironment } from "../environment/environment.ts";
import { TextBatch } from "./batch.ts";
import { type CodingTool, defineTool } from "./tool.ts";

/** Milliseconds that commands may take. */
export interface CommandTimeouts {
	/** Where the model gives none. */
	usual: number;
	/** Larger values are cut to it. */
	longest: number;
}

function chooseTimeout(wanted: number | undefined, { usual, longest }: CommandTimeouts): number {
	const value = wanted !== undefined && wanted > 0 ? wanted : usual;
	return Math.min(Math.max(1, Math.floor(value)), longest);
}

function describeEnd(result: CommandResult): string {
	const time = `${result.durationMs} ms`;
	if (result.aborted) return `[aborted after ${time}]`;
	if (result.signal !== null) return `[killed by ${result.signal} after ${time}]`;
	const code = result.exitCode ?? 0;
	const name = Object.entries(constants.signals).find(([, number]) => number === code - 128)?.[0];
	return `[exit code ${code}${name ? ` (a command was killed by ${name})` : ""}, ${time}]`;
}

function showOutput(result: CommandResult, timeoutMs: number): string {
	const output = [result.stdout, result.stderr].filter((text) => text !== "");
	const text = output.map((part) => (part.endsWith("\n") ? part : `${part}\n`)).join("");
	if (result.timedOut) {
		return `${text}[ERROR: Command timed out after ${timeoutMs}ms. The output above is what it printed until then. Give a larger timeout_ms if it needs more time.]`;
	}
	return `${text === "" ? "(no output)\n" : text}${describeEnd(result)}`;
}

/** How often output is told while a command runs. */
const updateMs = 100;

/** The tool that runs a command line. */
export function createShellTool(environment: ExecutionEnvironment, timeouts: CommandTimeouts): CodingTool {
	return defineTool<{ command: string; timeout_ms?: number; description?: string }>({
		name: "shell",
		label: "shell",
		toolClass: "shell",
		description: `Runs a command line with bash in the working directory. Every call is a new shell: cd and variables do not carry over. There is no input, so use flags that keep programs from asking. A command is ended after timeout_ms (default ${timeouts.usual}, at most ${timeouts.longest}). Programs that shall go on run in the background with &, their output sent to a file.`,
		properties: {
			command: { type: "string", description: "The command line." },
			timeout_ms: { type: "number", description: `Milliseconds to wait. Default: ${timeouts.usual}.` },
			description: { type: "string", description: "What the command is for, in a few words." },
		},
		required: ["command"],
		describeCall: ({ command }) => (typeof command === "string" ? command : ""),
		async run({ command, timeout_ms }, { signal, report }) {
			const timeoutMs = chooseTimeout(timeout_ms, timeouts);
			const batch = new TextBatch(updateMs, report);
			const result = await environment
				.execCommand({ command, timeoutMs, signal, onOutput: (text) => batch.push(text) })
				.finally(() => batch.end());
			return {
				text: showOutput(result, timeoutMs),
				isError: result.exitCode !== 0 || result.timedOut || result.aborted,
			};
		},
	});
}
