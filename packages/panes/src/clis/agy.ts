import type { AgentCli } from "./cli.ts";

/** agy, known from its documentation only: its screens were never recorded, so its state stays `unknown`. */
export const agy: AgentCli = {
	name: "agy",
	processes: ["agy"],
	interactive: "agy --dangerously-skip-permissions --model {model}",
	headless: `sh -c 'agy --dangerously-skip-permissions --print-timeout 120m --model {model} -p "$(cat)"'`,
	fills: { default: { model: "gemini-3.8-flash" }, fast: { model: "gemini-3.5-flash-lite" } },
	promptChannel: "argument",
	needsTerminal: true,
	oneShot: ["-p", "--print"],
	discovery: ["agy --version", "agy models"],
	skillPrefix: "/",
	keys: { interrupt: ["Escape"] },
	literal: {},
	walls: [],
	quirks: [
		"A headless run that writes to a pipe prints nothing or hangs, so dispatch gives it a terminal.",
		"The level of effort is part of the model id; there is no effort flag.",
		"It can ask for trust once per exact path; the user can list the path in trustedWorkspaces of ~/.gemini/antigravity-cli/settings.json.",
	],
};
