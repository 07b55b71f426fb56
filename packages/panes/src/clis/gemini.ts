import type { AgentCli } from "./cli.ts";
import { geminiRecord } from "./records/gemini.ts";
import { geminiScreen } from "./screens/gemini.ts";

/** Gemini CLI, as seen in 0.61.0. */
export const gemini: AgentCli = {
	name: "gemini",
	processes: ["gemini"],
	interactive: "gemini -y -m {model}",
	headless: `sh -c 'gemini -y -m {model} -p "$(cat)"'`,
	fills: {},
	promptChannel: "argument",
	structured: "-o stream-json",
	resume: "gemini -y --resume {id}",
	oneShot: ["-p", "--prompt"],
	discovery: ["gemini --version", "gemini --help"],
	skillPrefix: "/",
	screen: geminiScreen,
	record: geminiRecord,
	keys: { interrupt: ["Escape"] },
	queued: /^ {2}Queued \(press /,
	pasteRestMs: { short: 100, long: 1500 },
	literal: {
		bang: "typed",
		question: "typed",
		path: "typed",
		tab: "typed",
		backslash: "always",
		leadingBlank: "always",
		trailingBlank: "always",
	},
	walls: [
		{
			name: "folder trust",
			question: /Do you trust (?:the files in )?this folder\?/i,
			accept: /^\d+\. Trust\b/,
			cursor: /●/,
		},
	],
	quirks: [
		"The pane's title says Ready during the trust and sign-in walls.",
		"Enter less than 50 ms after a paste becomes a new line; a large paste needs more than a second.",
		"It can leave child processes behind when its pane is killed.",
	],
};
