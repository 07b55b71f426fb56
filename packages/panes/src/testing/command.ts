import { runMain } from "../cli/main.ts";
import type { PrivateServer } from "./tmux-server.ts";

/** What one run of the command printed and how it ended. */
export interface CommandResult {
	readonly code: number;
	readonly stdout: string;
	readonly stderr: string;
}

/** Runs an `agent-tmux` command line against a private server; with `inPane`, as if called from that pane. */
export async function runAgentTmux(
	server: PrivateServer,
	words: readonly string[],
	options: {
		input?: string;
		answer?: string;
		inPane?: string;
		env?: NodeJS.ProcessEnv;
		cwd?: string;
		signal?: AbortSignal;
	} = {},
): Promise<CommandResult> {
	const socket = `${server.folder}/tmux-${process.getuid?.() ?? 0}/${server.name}`;
	const env: NodeJS.ProcessEnv = { ...server.env, TMUX: `${socket},1,0`, ...options.env };
	if (options.inPane !== undefined) env.TMUX_PANE = options.inPane;
	let stdout = "";
	let stderr = "";
	const code = await runMain(words, {
		env,
		cwd: options.cwd ?? server.folder,
		signal: options.signal ?? new AbortController().signal,
		print: (text) => {
			stdout += `${text}\n`;
		},
		note: (text) => {
			stderr += `${text}\n`;
		},
		ask: async () => options.answer,
		readInput: async () => options.input ?? "",
	});
	return { code, stdout, stderr };
}
