/** Runs real programs in tests, each in its own process group, and never leaves one behind. */

import { type ChildProcess, spawn } from "node:child_process";
import { waitFor } from "./wait.ts";

/** How to start a program. */
export interface ProcessOptions {
	readonly cwd?: string;
	/** The whole environment; the caller's own when absent. */
	readonly env?: NodeJS.ProcessEnv;
	/** Written to standard input, which then ends; without it standard input is empty (`runProcess`) or stays open. */
	readonly input?: string | Buffer;
	/** The group is killed after this many milliseconds, 30,000 by default. */
	readonly timeoutMs?: number;
}

/** How a program ended. */
export interface ProcessResult {
	/** Exit code, `null` when a signal ended it. */
	readonly code: number | null;
	readonly signal: NodeJS.Signals | null;
	readonly stdout: string;
	readonly stderr: string;
	readonly durationMs: number;
	/** True when the guard killed it. */
	readonly timedOut: boolean;
}

/** A program that runs. Disposing it kills its group. */
export interface LiveProcess extends AsyncDisposable {
	readonly pid: number;
	/** What it has written so far. */
	readonly stdout: string;
	readonly stderr: string;
	/** Resolves when it has ended and its output is complete. */
	readonly done: Promise<ProcessResult>;
	/** The match once the output has one; rejects when the program ends without, or after `timeoutMs` (30,000). */
	waitForOutput(
		pattern: RegExp,
		options?: { readonly stream?: "stdout" | "stderr"; readonly timeoutMs?: number },
	): Promise<RegExpExecArray>;
	/** Writes to standard input. */
	write(text: string): void;
	/** Ends standard input. */
	endInput(): void;
	/** Sends a signal to the program, or to its whole group. */
	kill(signal?: NodeJS.Signals, whom?: "process" | "group"): void;
}

/** Signals to send to the program, each once its output has a match. */
export interface SignalPlan {
	readonly signal: NodeJS.Signals;
	readonly afterOutput: RegExp;
}

/** Runs a program to its end. */
export async function runProcess(
	file: string,
	args: readonly string[],
	options: ProcessOptions & { readonly signals?: readonly SignalPlan[] } = {},
): Promise<ProcessResult> {
	const live = startProcess(file, args, { input: "", ...options });
	// Node 22 runs sources as they are and does not know `await using` yet.
	try {
		for (const plan of options.signals ?? []) {
			await live.waitForOutput(plan.afterOutput);
			live.kill(plan.signal);
		}
		return await live.done;
	} finally {
		await live[Symbol.asyncDispose]();
	}
}

/** Starts a program and hands it back while it runs. */
export function startProcess(file: string, args: readonly string[], options: ProcessOptions = {}): LiveProcess {
	const started = performance.now();
	const child = spawn(file, args, { cwd: options.cwd, env: options.env, detached: true, stdio: "pipe" });
	const output = { stdout: "", stderr: "" };
	for (const stream of ["stdout", "stderr"] as const) {
		child[stream].setEncoding("utf8");
		child[stream].on("data", (text: string) => {
			output[stream] += text;
		});
	}
	// A program may end without reading what it is given; that is its right, not a fault of the test.
	child.stdin.on("error", (error: NodeJS.ErrnoException) => {
		if (error.code !== "EPIPE" && error.code !== "ECONNRESET") child.emit("error", error);
	});
	if (options.input !== undefined) child.stdin.end(options.input);

	let isEnded = false;
	let timedOut = false;
	const guard = setTimeout(() => {
		timedOut = true;
		killGroup(child);
	}, options.timeoutMs ?? 30_000);
	const done = new Promise<ProcessResult>((resolve, reject) => {
		child.once("error", reject);
		// Children that outlive the program hold its output open: the group goes when the program has gone.
		child.once("exit", () => setTimeout(() => killGroup(child), isOpen(child) ? 500 : 0).unref());
		child.once("close", (code, signal) => {
			killGroup(child);
			resolve({ code, signal, ...output, durationMs: performance.now() - started, timedOut });
		});
	}).finally(() => {
		isEnded = true;
		clearTimeout(guard);
	});
	// Whoever awaits `done` sees the failure; a test that never does must not crash on it.
	done.catch(() => undefined);

	return {
		pid: child.pid ?? -1,
		get stdout() {
			return output.stdout;
		},
		get stderr() {
			return output.stderr;
		},
		done,
		async waitForOutput(pattern, { stream = "stdout", timeoutMs } = {}) {
			let match: RegExpExecArray | null = null;
			const look = () => {
				match = pattern.exec(output[stream]);
				return match !== null;
			};
			await waitFor(() => look() || isEnded, `${pattern} on ${stream}, which has: ${tail(output[stream])}`, timeoutMs);
			if (!look() || !match) {
				const both = `stdout: ${tail(output.stdout)}\nstderr: ${tail(output.stderr)}`;
				throw new Error(`${file} ended without ${pattern} on ${stream}.\n${both}`);
			}
			return match;
		},
		write: (text) => {
			child.stdin.write(text);
		},
		endInput: () => {
			child.stdin.end();
		},
		kill(signal = "SIGTERM", whom = "process") {
			if (whom === "group") killGroup(child, signal);
			else child.kill(signal);
		},
		async [Symbol.asyncDispose]() {
			if (!isEnded) killGroup(child);
			await done.catch(() => undefined);
		},
	};
}

function isOpen(child: ChildProcess): boolean {
	return Boolean(child.stdout?.readable || child.stderr?.readable);
}

function tail(text: string): string {
	return text.length > 2_000 ? `…${text.slice(-2_000)}` : text;
}

function killGroup(child: ChildProcess, signal: NodeJS.Signals = "SIGKILL"): void {
	if (child.pid === undefined) return;
	try {
		process.kill(-child.pid, signal);
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
	}
}
