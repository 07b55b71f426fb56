import type { AgentCli } from "./cli.ts";
import { piRecord } from "./records/pi.ts";
import { piScreen } from "./screens/pi.ts";

/** pi, as seen in 0.73.1. */
export const pi: AgentCli = {
	name: "pi",
	processes: ["pi"],
	interactive: "pi --model {model} --thinking {effort}",
	headless: `sh -c 'pi --model {model} --thinking {effort} -p "$(cat)"'`,
	fills: {},
	promptChannel: "argument",
	structured: "--mode json",
	resume: "pi --session {id}",
	oneShot: ["-p", "--print"],
	discovery: ["pi --version", "pi --list-models"],
	skillPrefix: "/",
	screen: piScreen,
	record: piRecord,
	keys: { interrupt: ["Escape"], queue: "M-Enter" },
	queued: /^ (?:Steering|Follow-up): /,
	literal: { bang: "always", tab: "always", backslash: "always", leadingBlank: "always", trailingBlank: "always" },
	walls: [],
	quirks: [
		"It asks for no approvals.",
		"While a turn runs Enter steers and Alt+Enter queues; Ctrl-C does nothing.",
		"Without a key it shows a live composer and fails when a prompt is submitted.",
	],
};
