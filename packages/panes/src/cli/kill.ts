import { readAgentState } from "../drive/agent-state.ts";
import { endPaneTree } from "../drive/ending.ts";
import { endSession } from "../drive/session.ts";
import { PaneError } from "../errors.ts";
import type { Command } from "./command.ts";
import { makeDrive, printResult, SERVER_FLAGS, serverLine } from "./drive.ts";
import { resolveTarget } from "./target.ts";

/** `agent-tmux kill` */
export const kill: Command = {
	spec: {
		name: "kill",
		form: "TARGET [--force]",
		summary: "End a session or exactly one pane; refuses one whose agent works or waits for an answer.",
		flags: { force: { help: "end it whatever it is doing" }, ...SERVER_FLAGS },
		arity: [1, 1],
	},
	run: async (line, world) => {
		const [target = ""] = line.positionals;
		const drive = makeDrive(line, world);
		if (!/^[%@=]/.test(target)) {
			const isEnded = await endSession(drive, target, { force: line.has("force") });
			const text = isEnded ? `killed ${target}` : `no session '${target}'`;
			printResult(line, world, { ok: true, session: target, killed: isEnded }, text);
			return 0;
		}
		const pane = await resolveTarget(drive, target);
		const word = line.has("force") ? undefined : (await readAgentState(drive, pane))?.word;
		if (word === "active" || word === "waiting") {
			throw new PaneError("refused", `${pane.id} is ${word}; end it all the same with --force`);
		}
		await endPaneTree(drive, pane);
		printResult(line, world, { ok: true, pane: pane.id, killed: true }, `killed ${pane.id}${serverLine(drive, line)}`);
		return 0;
	},
};
