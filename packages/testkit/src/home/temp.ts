import { mkdir, mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A home folder of its own for one test, and an environment in which programs see nothing of the real one. */
export interface TempHome extends AsyncDisposable {
	/** The folder, 0700, without symbolic links in its path. */
	readonly path: string;
	/** PATH of the caller, HOME, XDG folders and the agent folder inside `path`; no key of any provider. */
	readonly env: Record<string, string>;
	/** Removes the folder. */
	dispose(): Promise<void>;
}

/** Variables that say where tools are, or to which test run a program belongs; nothing else is handed on. */
const PASSED = ["PATH", "TMPDIR", "TZ", "PRIME_AGENT_TEST_PYTHON", "PRIME_AGENT_TEST_RUN"];

/** Makes an empty home folder under the system's folder for temporary files. */
export async function tempHome(): Promise<TempHome> {
	const path = await realpath(await mkdtemp(join(tmpdir(), "prime-agent-test-")));
	const env: Record<string, string> = {
		HOME: path,
		XDG_CONFIG_HOME: join(path, ".config"),
		XDG_DATA_HOME: join(path, ".local/share"),
		XDG_STATE_HOME: join(path, ".local/state"),
		XDG_CACHE_HOME: join(path, ".cache"),
		XDG_RUNTIME_DIR: join(path, ".run"),
		PRIME_AGENT_CODING_AGENT_DIR: join(path, ".prime/agent"),
		LC_ALL: "C.UTF-8",
		TERM: "dumb",
	};
	for (const name of PASSED) {
		const value = process.env[name];
		if (value !== undefined) env[name] = value;
	}
	await mkdir(join(path, ".run"), { mode: 0o700 });
	const dispose = () => rm(path, { recursive: true, force: true, maxRetries: 5 });
	return { path, env, dispose, [Symbol.asyncDispose]: dispose };
}
