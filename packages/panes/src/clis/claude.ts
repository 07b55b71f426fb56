import type { AgentCli } from "./cli.ts";
import { claudeRecord } from "./records/claude.ts";
import { claudeScreen } from "./screens/claude.ts";

/** Claude Code, as seen in 2.1.332. */
export const claude: AgentCli = {
	name: "claude",
	processes: ["claude", "claude-code"],
	interactive: 'claude --dangerously-skip-permissions -n "$(basename "$(pwd)")" --model {model} --effort {effort}',
	headless: "claude -p --dangerously-skip-permissions --model {model} --effort {effort}",
	isNative: true,
	fills: {
		default: { model: "opus", effort: "high" },
		operator: { model: "opus", effort: "high" },
		doing: { model: "opus", effort: "high" },
		review: { model: "opus", effort: "high" },
		hydrate: { model: "sonnet", effort: "medium" },
		fast: { model: "haiku", effort: "low" },
	},
	promptChannel: "stdin",
	structured: "--output-format stream-json --verbose",
	resume: "claude --resume {id}",
	oneShot: ["-p", "--print"],
	discovery: ["claude --version", "claude --help"],
	skillPrefix: "/",
	screen: claudeScreen,
	record: claudeRecord,
	keys: { interrupt: ["Escape"] },
	queued: /^ {2}⎿ {2}Queued · /,
	literal: { bang: "always", tab: "always", backslash: "always", trailingBlank: "always" },
	walls: [
		{
			name: "folder trust",
			question: /Do you trust|Is this a project you created or one you trust|accept the risk/i,
			accept: /^(?:\d+\. )?Yes\b/,
			cursor: /❯/,
		},
		{
			name: "bypass-permissions warning",
			question: /Bypass Permissions mode/i,
			accept: /^(?:\d+\. )?Yes, I accept/,
			cursor: /❯/,
		},
		{ name: "API key", question: /Do you want to use this API key\?/, accept: /^(?:\d+\. )?Yes\b/, cursor: /❯/ },
		{
			name: "new MCP server",
			question: /New MCP server found/,
			accept: /^(?:\d+\. )?Continue without/,
			cursor: /❯/,
			isNotice: true,
		},
	],
	launchEnv: { unset: ["CLAUDE_CODE_CHILD_SESSION"], set: { CLAUDE_CODE_FORCE_SESSION_PERSISTENCE: "1" } },
	patterns: { ready: /for shortcuts|for agents/, busy: /esc to interrupt/ },
	quirks: [
		"The trust wall stands on No in 2.1.332 and on Yes in 2.1.197: read the cursor, never press a blind Enter.",
		"Esc before any output puts the prompt back into the composer; clear it before the next message.",
		"A draft in the composer hides the footer's `esc to interrupt` while a turn runs.",
		"Settings screens such as /status are dialogs: they take all keys until Esc.",
		"An API error is retried up to ten times without a word; the turn stays busy.",
	],
};
