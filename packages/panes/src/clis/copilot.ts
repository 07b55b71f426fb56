import type { AgentCli } from "./cli.ts";
import { copilotRecord } from "./records/events.ts";
import { copilotScreen } from "./screens/copilot.ts";

/** GitHub Copilot CLI, as seen in 1.0.102. */
export const copilot: AgentCli = {
	name: "copilot",
	processes: ["copilot"],
	interactive: "copilot --allow-all --model {model} --reasoning-effort {effort}",
	headless: `sh -c 'copilot --allow-all --model {model} --reasoning-effort {effort} -p "$(cat)"'`,
	fills: {},
	promptChannel: "argument",
	resume: "copilot --allow-all --resume={id}",
	oneShot: ["-p", "--prompt"],
	discovery: ["copilot --version", "copilot --help"],
	skillPrefix: "/",
	screen: copilotScreen,
	record: copilotRecord,
	keys: { interrupt: ["Escape", "Escape"] },
	literal: {},
	walls: [
		{
			name: "folder trust",
			question: /Do you trust the files in this folder\?/,
			accept: /^(?:\d+\. )?Yes\s*$/,
			cursor: /❯/,
		},
	],
	quirks: ["Its plain Yes to the trust question is not remembered."],
};
