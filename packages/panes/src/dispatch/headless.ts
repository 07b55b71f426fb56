import { spawn } from "node:child_process";
import { quoteWord } from "../tmux/arguments.ts";

/** One headless run: its command, its folder and the files it reads and writes. */
export interface HeadlessRun {
	readonly command: string;
	readonly cwd: string;
	readonly env: NodeJS.ProcessEnv;
	readonly prompt: string;
	readonly log: string;
	readonly exit: string;
	readonly timeoutSeconds?: number | undefined;
	/** Give the command a terminal for its output, which goes to the log all the same. */
	readonly needsTerminal?: boolean | undefined;
}

/**
 * Starts a command in a session of its own with the prompt as its input, and returns its process id, which is also its
 * group. The exit file is written when it ends; 124 means that its time was over.
 */
export function startHeadless(run: HeadlessRun): number {
	const limit = run.timeoutSeconds === undefined ? "" : `timeout ${run.timeoutSeconds} `;
	const input = `< ${quoteWord(run.prompt)}`;
	// Under a terminal the prompt still comes from the file: typed into the terminal it would be echoed into the log.
	const inner = run.needsTerminal
		? `${limit}script -qec ${quoteWord(`( ${run.command} ) ${input}`)} /dev/null < /dev/null`
		: `( ${limit === "" ? run.command : `${limit}sh -c ${quoteWord(run.command)}`} ) ${input}`;
	// A command that exits by itself must not end the line that writes the exit file.
	const line = `${inner} > ${quoteWord(run.log)} 2>&1; echo $? > ${quoteWord(run.exit)}`;
	const child = spawn("sh", ["-c", line], { cwd: run.cwd, env: run.env, detached: true, stdio: "ignore" });
	child.unref();
	return child.pid ?? 0;
}

/** Ends a whole process group; one that is already gone is no error. */
export function stopGroup(pgid: number): boolean {
	try {
		process.kill(-pgid, "SIGTERM");
		return true;
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === "ESRCH") return false;
		throw error;
	}
}
