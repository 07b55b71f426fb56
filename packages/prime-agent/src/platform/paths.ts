import { homedir } from "node:os";
import { join, resolve } from "node:path";

/** The variables of a process, as `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The folder of the user: `HOME`, or what the system says where it is unset. */
export function homeFolder(env: Environment): string {
	return env.HOME || homedir();
}

/** Replaces a leading `~` by the home folder; other paths stay as they are. */
export function expandHome(path: string, env: Environment): string {
	if (path === "~") return homeFolder(env);
	return path.startsWith("~/") ? join(homeFolder(env), path.slice(2)) : path;
}

/** The folder of settings, credentials and sessions; it need not exist. */
export function agentFolder(env: Environment): string {
	const named = env.PRIME_AGENT_CODING_AGENT_DIR || env.PI_CODING_AGENT_DIR;
	return named ? resolve(expandHome(named, env)) : join(homeFolder(env), ".prime", "agent");
}
