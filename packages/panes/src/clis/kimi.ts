import type { AgentCli } from "./cli.ts";
import { kimiRecord } from "./records/events.ts";
import { kimiScreen } from "./screens/kimi.ts";

/** Kimi Code, as seen in 2.1.0. */
export const kimi: AgentCli = {
	name: "kimi",
	processes: ["kimi", "kimi-code"],
	interactive: "kimi --auto -m {model}",
	headless: `sh -c 'kimi -m {model} -p "$(cat)"'`,
	fills: {},
	promptChannel: "argument",
	structured: "--output-format stream-json",
	resume: "kimi -S {id} --auto",
	oneShot: ["-p", "--prompt"],
	discovery: ["kimi --version", "kimi --help", "kimi provider list"],
	skillPrefix: "/",
	screen: kimiScreen,
	record: kimiRecord,
	keys: { interrupt: ["Escape"] },
	literal: {},
	walls: [{ name: "folder trust", question: /Trust this folder\?/, accept: /^Trust this folder$/, cursor: /❯/ }],
	quirks: [
		"A prompt typed into its trust wall accepts the trust; the answer is remembered per folder.",
		"The input box has vertical rules at both sides.",
		"-m takes an alias of the user's configuration, not a model id; -p rejects --yolo and --auto.",
	],
};
