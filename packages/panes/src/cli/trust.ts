import { resolve as resolvePath } from "node:path";
import { findProjectFile, listCommands } from "../clis/config.ts";
import { setTrust } from "../clis/trust.ts";
import { PaneError } from "../errors.ts";
import type { Command } from "./command.ts";
import { printResult } from "./drive.ts";

/** `agent-tmux trust` */
export const trust: Command = {
	spec: {
		name: "trust",
		form: "[DIR] [--yes | --forget]",
		summary: "Let the .agent-tmux.yaml of a project name commands, as long as its content stays what it is now.",
		flags: {
			yes: { short: "y", help: "do not ask" },
			forget: { help: "trust it no longer" },
			json: { help: "print one JSON document" },
		},
		arity: [0, 1],
	},
	run: async (line, world) => {
		const folder = resolvePath(world.cwd, line.positionals[0] ?? ".");
		const file = findProjectFile(folder);
		if (file === undefined) throw new PaneError("config", `there is no .agent-tmux.yaml in ${folder} or above it`);
		if (line.has("forget")) {
			setTrust(world.env, file.path, undefined);
			printResult(line, world, { path: file.path, trusted: false }, `no longer trusted: ${file.path}`);
			return 0;
		}
		const commands = await listCommands(file);
		const list = commands.map(([key, value]) => `  ${key}: ${value}`).join("\n");
		world.note(commands.length === 0 ? `${file.path} names no commands` : `${file.path} names:\n${list}`);
		if (!line.has("yes")) {
			const answer = await world.ask("Trust it as it is now? [y/N] ");
			if (answer === undefined) throw new PaneError("refused", "there is no terminal to ask on; repeat with --yes");
			if (!/^y(?:es)?$/i.test(answer.trim())) throw new PaneError("refused", "nothing was changed");
		}
		setTrust(world.env, file.path, file.text);
		printResult(line, world, { path: file.path, trusted: true }, `trusted: ${file.path}`);
		return 0;
	},
};
