import type { AgentCli } from "./cli.ts";
import { codexRecord } from "./records/codex.ts";
import { codexScreen } from "./screens/codex.ts";

/** Codex CLI, as seen in 0.171.0. */
export const codex: AgentCli = {
	name: "codex",
	processes: ["codex"],
	interactive: "codex --dangerously-bypass-approvals-and-sandbox -m {model} -c model_reasoning_effort={effort}",
	headless: "codex exec --dangerously-bypass-approvals-and-sandbox -m {model} -c model_reasoning_effort={effort}",
	fills: {
		default: { model: "gpt-5.6-sol", effort: "high" },
		operator: { model: "gpt-5.6-sol", effort: "medium" },
		doing: { effort: "high" },
		review: { effort: "high" },
		fast: { model: "gpt-5.6-sol", effort: "low" },
	},
	promptChannel: "stdin",
	structured: "--json",
	resume: "codex resume {id} --dangerously-bypass-approvals-and-sandbox",
	oneShot: ["exec", "e"],
	discovery: ["codex --version", "codex --help", "codex exec --help", "codex debug models"],
	skillPrefix: "$",
	screen: codexScreen,
	record: codexRecord,
	keys: { interrupt: ["Escape"], queue: "Tab" },
	queued: /^ {2}↳ /,
	literal: { bang: "always", question: "typed", path: "typed", leadingBlank: "always", trailingBlank: "always" },
	walls: [
		{
			name: "folder trust",
			question: /Trust this folder\?|Do you trust the contents|allow Codex to work in this folder/i,
			accept: /^\d+\. (?:Trust|Yes)\b/,
			cursor: /[›>]/,
		},
		{
			name: "update notice",
			question: /Update available/,
			accept: /^(?:\d+\. )?Skip\b/,
			cursor: /[›>]/,
			isNotice: true,
		},
	],
	launchFlags: ["--no-daemon"],
	patterns: { ready: /^›/m, busy: /esc to interrupt/ },
	quirks: [
		"Without --no-daemon a background server with the first launcher's environment outlives the pane and its turn.",
		"While a turn runs Enter steers it and aborts the request in flight; Tab queues the message.",
		"While text streams only the spinner in the pane's title shows that a turn runs.",
		"Ctrl-C on an empty composer ends the program.",
		"The MCP server is `codex mcp-server`; `codex mcp` manages the servers that codex itself uses.",
	],
};
