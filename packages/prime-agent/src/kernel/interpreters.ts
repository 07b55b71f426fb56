import { accessSync, closeSync, constants, existsSync, openSync, readSync, realpathSync, statSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import { agentFolder, type Environment, expandHome, homeFolder } from "../platform/paths.ts";

/** An interpreter to try. `explicit`: the user named it; `managed`: ours; `installed`: found on the machine. */
export interface Candidate {
	readonly python: string;
	readonly kind: "explicit" | "managed" | "installed";
}

/** Where to look. */
export interface InterpreterSearch {
	readonly env: Environment;
	/** The interpreter of the settings; the environment's is stronger. */
	readonly python?: string | undefined;
}

const MINORS = [14, 13, 12, 11, 10];
const NAMES = ["python3", ...MINORS.map((minor) => `python3.${minor}`), "python"];
const USUAL = ["/usr/local/bin", "/opt/homebrew/bin", "/usr/bin"];

/**
 * Interpreters in the order in which they are tried: the explicit one alone, else the managed environment, then installed
 * ones outside an active virtual environment. Scripts that only choose an interpreter (version shims) come last: they are
 * slow and their choice depends on the folder.
 */
export function listCandidates(search: InterpreterSearch): readonly Candidate[] {
	const explicit = findExplicit(search);
	if (explicit) return [{ python: explicit, kind: "explicit" }];
	const managed = listManaged(search.env).map((python): Candidate => ({ python, kind: "managed" }));
	const installed = listInstalled(search.env).map((python): Candidate => ({ python, kind: "installed" }));
	return [...managed, ...installed];
}

/** Whether somebody chose an interpreter for kernels: named it, or had an environment made. */
export function hasChosen(search: InterpreterSearch): boolean {
	return findExplicit(search) !== undefined || listManaged(search.env).length > 0;
}

function findExplicit({ env, python }: InterpreterSearch): string | undefined {
	return env.PRIME_AGENT_KERNEL_PYTHON || python || undefined;
}

function listManaged(env: Environment): readonly string[] {
	return managedFolders(env).map(pythonOf).filter(isExecutable);
}

/** The folders in which an environment made for the kernel may lie, best one first; none of them need be there. */
export function managedFolders(env: Environment): readonly string[] {
	if (env.PRIME_AGENT_KERNEL_VENV) return [resolve(expandHome(env.PRIME_AGENT_KERNEL_VENV, env))];
	const data = env.XDG_DATA_HOME || join(homeFolder(env), ".local", "share");
	return [agentFolder(env), join(data, "prime-agent")].map((folder) => join(folder, "kernel-venv"));
}

/** The interpreter of an environment. */
export function pythonOf(folder: string): string {
	return join(folder, "bin", "python");
}

/** Whether a file is where the system would look for this program; it need not be one that can run. */
export function isFound(program: string, { env, cwd }: { readonly env: Environment; readonly cwd: string }): boolean {
	const folders = program.includes("/") ? [cwd] : (env.PATH ?? "").split(delimiter);
	return folders.some((folder) => existsSync(resolve(cwd, folder, program)));
}

function listInstalled(env: Environment): readonly string[] {
	const active = [env.VIRTUAL_ENV, env.CONDA_DEFAULT_ENV === "base" ? undefined : env.CONDA_PREFIX]
		.filter((folder) => folder !== undefined && folder !== "")
		.map((folder) => join(folder as string, "bin"));
	const folders = [...(env.PATH ?? "").split(delimiter), ...USUAL].filter(
		(folder) => folder.startsWith("/") && !active.includes(folder.replace(/\/+$/, "")),
	);
	const found = new Map<string, string>();
	for (const folder of new Set(folders)) {
		for (const name of NAMES) {
			const path = join(folder, name);
			const file = isExecutable(path) ? identifyFile(folder, path) : undefined;
			if (file !== undefined && !found.has(file)) found.set(file, path);
		}
	}
	const all = [...found.values()];
	const slow = all.filter(isSlow);
	return [...all.filter((path) => !slow.includes(path)), ...slow];
}

/**
 * The same for two names of one interpreter. The folder counts as well: in that of a virtual environment the same
 * program is another interpreter.
 */
function identifyFile(folder: string, path: string): string | undefined {
	try {
		return `${realpathSync(folder)}\0${realpathSync(path)}`;
	} catch {
		// it was removed in this moment
		return undefined;
	}
}

/** Scripts, and Apple's stand-in, which may open a dialogue. */
function isSlow(path: string): boolean {
	return (process.platform === "darwin" && path.startsWith("/usr/bin/")) || startsWithHashBang(path);
}

function startsWithHashBang(path: string): boolean {
	let fd: number | undefined;
	try {
		fd = openSync(path, "r");
		const start = Buffer.alloc(2);
		readSync(fd, start, 0, 2, 0);
		return start.toString("latin1") === "#!";
	} catch {
		return false;
	} finally {
		if (fd !== undefined) closeSync(fd);
	}
}

function isExecutable(path: string): boolean {
	try {
		accessSync(path, constants.X_OK);
		return statSync(path).isFile();
	} catch {
		return false;
	}
}
