import { readFileSync } from "node:fs";
import { join } from "node:path";
import { spawn } from "@lydell/node-pty";
import { waitFor } from "@prime-agent/testkit";
import type { TestAgent } from "./agent.ts";

/** The command with a terminal as its input; its outputs go to files, as with `2>log`. */
export interface TerminalAgent {
	readonly stdout: string;
	readonly stderr: string;
	/** Waits for the n-th question and types a line. */
	answer(question: number, line: string): Promise<void>;
	/** Waits for the n-th question. */
	waitForQuestion(question: number): Promise<void>;
	/** Types without Enter. */
	type(keys: string): void;
	/** Closes the terminal. */
	hangUp(): void;
	/** The exit code. */
	done: Promise<number>;
}

function countQuestions(text: string): number {
	return text.split("Allow? ").length - 1;
}

/** Starts the command on a terminal. */
export function startOnTerminal(agent: TestAgent, ...args: string[]): TerminalAgent {
	const out = join(agent.folder, "..", "stdout.log");
	const err = join(agent.folder, "..", "stderr.log");
	const script = 'out=$1 err=$2; shift 2; exec "$@" >"$out" 2>"$err"';
	const terminal = spawn("/bin/sh", ["-c", script, "sh", out, err, process.execPath, agent.main, ...args], {
		cwd: agent.folder,
		env: agent.env,
	});
	const read = (path: string) => {
		try {
			return readFileSync(path, "utf8");
		} catch {
			return "";
		}
	};
	const { promise: done, resolve } = Promise.withResolvers<number>();
	terminal.onExit(({ exitCode }) => resolve(exitCode));
	const waitForQuestion = (question: number) =>
		waitFor(() => countQuestions(read(err)) >= question, `question ${question} in: ${read(err)}`, 40_000);
	return {
		get stdout() {
			return read(out);
		},
		get stderr() {
			return read(err);
		},
		waitForQuestion,
		async answer(question, line) {
			await waitForQuestion(question);
			terminal.write(`${line}\r`);
		},
		type: (keys) => terminal.write(keys),
		hangUp: () => terminal.kill("SIGHUP"),
		done,
	};
}
