import type { AgentCli } from "./cli.ts";
import { opencodeRecord } from "./records/opencode.ts";
import { opencodeScreen } from "./screens/opencode.ts";

/** OpenCode, as seen in 1.18.33. */
export const opencode: AgentCli = {
	name: "opencode",
	processes: ["opencode"],
	interactive: "opencode --auto -m {model}",
	headless: `sh -c 'opencode run --auto -m {model} --variant {effort} "$(cat)"'`,
	fills: {},
	promptChannel: "argument",
	structured: "--format json",
	resume: "opencode --auto -s {id}",
	oneShot: ["run"],
	discovery: ["opencode --version", "opencode models"],
	skillPrefix: "/",
	screen: opencodeScreen,
	record: opencodeRecord,
	keys: { interrupt: ["Escape", "Escape"] },
	pasteRestMs: { short: 50, long: 500 },
	afterChip: "BSpace",
	portFlag: "--port",
	literal: { bang: "typed", question: "typed", tab: "typed" },
	walls: [],
	quirks: [
		"Esc must be pressed twice to stop a turn.",
		"Typed text costs about 20 ms of CPU per character; long text must be pasted.",
		"The reply is complete on the screen one or two seconds before the turn ends.",
		"Its state can be read only from a server that --port starts; launch adds a free port.",
	],
};
