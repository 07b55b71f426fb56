import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

/** The path of agent-tmux that a hook can rely on: the launcher of a clone, else the program as it was called. */
export function findTool(called: string | undefined, env: NodeJS.ProcessEnv): string {
	if (env.AGENT_TMUX_BIN) return env.AGENT_TMUX_BIN;
	const program = resolve(called ?? "");
	const launcher = join(dirname(program), "..", "..", "..", "agent-tmux.sh");
	return existsSync(launcher) ? launcher : program;
}
