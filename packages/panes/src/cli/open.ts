import { resolve as resolvePath } from "node:path";
import { loadConfig } from "../clis/config.ts";
import { findCli } from "../clis/index.ts";
import { commandOf, resolvePinned } from "../compose/resolve.ts";
import { knownFlags } from "../drive/launch.ts";
import { openAgent } from "../drive/open.ts";
import { requireCommand } from "../drive/program.ts";
import type { Command } from "./command.ts";
import { makeDrive, namesServer, printResult, SERVER_FLAGS, serverLine } from "./drive.ts";
import { usage } from "./parse.ts";

/** `agent-tmux open` */
export const open: Command = {
	spec: {
		name: "open",
		form: "--provider P [--role R] [options]",
		summary: "Open a provider's interactive command in a pane: a split inside tmux, else a new window.",
		flags: {
			provider: { value: "P", help: "provider to open" },
			role: { value: "R", help: "role whose model and effort are used (default)" },
			cwd: { short: "c", value: "DIR", help: "folder to start in" },
			split: { help: "split the caller's window" },
			window: { help: "open a new window" },
			name: { short: "n", value: "NAME", help: "name of a new window" },
			session: { short: "t", value: "SESSION:", help: "session that gets a new window" },
			prompt: { value: "TEXT", help: "first prompt, as one argument; its delivery is not verified" },
			"shell-fallback": { help: "leave a shell in the pane when the agent ends" },
			focus: { help: "move the focus to the new pane" },
			"trust-project": { help: "let the project's file name commands" },
			...SERVER_FLAGS,
		},
		arity: [0, 0],
		notes: ["Then: agent-tmux ready %N, and agent-tmux deliver %N --text TEXT."],
	},
	run: async (line, world) => {
		const provider = line.text("provider");
		if (provider === undefined) throw usage(open.spec, "--provider is missing");
		if (line.has("split") && line.has("window")) throw usage(open.spec, "--split and --window exclude each other");
		const drive = makeDrive(line, world);
		const cwd = resolvePath(world.cwd, line.text("cwd") ?? ".");
		const { warn, env } = drive;
		const config = await loadConfig({ cwd, env, warn, trustProject: line.has("trust-project") });
		const composed = commandOf(resolvePinned(config.table, provider, line.text("role") ?? "default"), "interactive");
		await requireCommand(drive, composed, { cwd, key: `providers.${provider}.interactive_command` });
		const flags = await knownFlags(drive, findCli(provider), composed.split(" "));
		const [program = "", ...rest] = composed.split(" ");
		const pane = await openAgent(drive, {
			...{ command: [program, ...flags, ...rest].join(" "), cwd, name: line.text("name") },
			...{ session: line.text("session"), prompt: line.text("prompt"), isOtherServer: namesServer(line) },
			...{ shellFallback: line.has("shell-fallback"), takesFocus: line.has("focus") },
			shape: line.has("split") ? "split" : line.has("window") ? "window" : undefined,
		});
		const server = drive.tmux.address.name ?? null;
		const facts = { cwd, window_id: pane.windowId, pane_pid: pane.pid, command: pane.command };
		const text = `opened ${pane.id} (provider ${provider})${serverLine(drive, line)}`;
		printResult(line, world, { pane: pane.id, provider, server, ...facts }, text);
		return 0;
	},
};
