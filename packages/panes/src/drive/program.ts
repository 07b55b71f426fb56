import { execFile } from "node:child_process";
import { accessSync, constants, statSync } from "node:fs";
import { basename, delimiter, join, resolve as resolvePath } from "node:path";
import { programOf } from "../compose/program.ts";
import { UsageError } from "../errors.ts";
import { quoteWord } from "../tmux/arguments.ts";
import { callOptions, type Drive } from "./context.ts";

/** Shells that answer `command -v`. */
const ASKABLE = new Set(["sh", "bash", "zsh", "dash", "ash", "ksh", "fish"]);

/**
 * Refuses a program that a pane would not find, with `advice` as what to do. tmux gives a new pane the PATH of the caller
 * and runs its line in a shell, whose own files can add to it; so that shell has the last word.
 */
export async function requireProgram(
	drive: Drive,
	program: string,
	place: { readonly cwd: string; readonly advice: string },
): Promise<void> {
	const isPath = program.includes("/");
	if (isPath ? isExecutable(resolvePath(place.cwd, program)) : isOnPath(program, drive.env)) return;
	const shell = await findShell(drive);
	if (!ASKABLE.has(basename(shell)) || (await doesKnow(drive, shell, program, place.cwd))) return;
	const what = isPath ? `${program} is no program that can be started` : `${program} is not on PATH`;
	throw new UsageError(`${what}; ${place.advice}`);
}

/** Like `requireProgram` for a composed command line, which the configuration has at `key`. */
export async function requireCommand(
	drive: Drive,
	command: string,
	place: { readonly cwd: string; readonly key: string },
): Promise<void> {
	const program = programOf(command);
	if (program === undefined) return;
	const advice = `install it, put its folder on PATH, or name another program with ${place.key}`;
	await requireProgram(drive, program, { cwd: place.cwd, advice });
}

/** Whether a folder of PATH holds this program. */
export function isOnPath(program: string, env: NodeJS.ProcessEnv): boolean {
	return (env.PATH ?? "").split(delimiter).some((folder) => folder !== "" && isExecutable(join(folder, program)));
}

function isExecutable(path: string): boolean {
	try {
		accessSync(path, constants.X_OK);
		return statSync(path).isFile();
	} catch (error) {
		return (error as NodeJS.ErrnoException).code === undefined;
	}
}

/** The shell of panes; a server that does not run yet will take it from the environment. */
async function findShell(drive: Drive): Promise<string> {
	const reply = await drive.tmux.ask(["show-options", "-gv", "default-shell"], callOptions(drive));
	return reply.stdout.trim() || drive.env.SHELL || "/bin/sh";
}

/** Also true when the shell gives no answer: the start itself will tell then. */
function doesKnow(drive: Drive, shell: string, program: string, cwd: string): Promise<boolean> {
	return new Promise((resolve, reject) => {
		const options = { env: drive.env, cwd, timeout: 5000, signal: drive.signal };
		execFile(shell, ["-c", `command -v ${quoteWord(program)}`], options, (error) => {
			if (drive.signal?.aborted) reject(drive.signal.reason);
			else resolve(error === null || typeof error.code !== "number");
		});
	});
}
