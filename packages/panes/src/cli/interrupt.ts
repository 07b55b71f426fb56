import { interruptSession } from "../drive/interrupt.ts";
import type { Command } from "./command.ts";
import { MODE_FLAG, makeDrive, printResult, SERVER_FLAGS } from "./drive.ts";

/** `agent-tmux interrupt` */
export const interrupt: Command = {
	spec: {
		name: "interrupt",
		form: "NAME",
		summary: "Stop the running turn with the keys of its agent CLI; does nothing when no turn runs.",
		flags: { ...MODE_FLAG, ...SERVER_FLAGS },
		arity: [1, 1],
		notes: [
			"Prints `interrupted` or `not busy`. Some CLIs put the prompt back into the composer: send with --clear then.",
		],
	},
	run: async (line, world) => {
		const result = await interruptSession(makeDrive(line, world), line.positionals[0] ?? "");
		printResult(
			line,
			world,
			{ interrupted: result.isInterrupted, state: result.state },
			result.isInterrupted ? "interrupted" : "not busy",
		);
		return 0;
	},
};
