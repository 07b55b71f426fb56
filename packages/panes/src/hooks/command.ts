import { PaneError } from "../errors.ts";
import { type Harness, HOOK_TOKENS, type HookToken } from "./harness.ts";

const MARK = new RegExp(` hook --agent [a-z]+ (?:${HOOK_TOKENS.join("|")})\\b`);

/** The command that a harness runs for an event: silent, never failing, and nothing outside of tmux. */
export function hookCommand(tool: string, harness: Harness, token: HookToken): string {
	checkTool(tool);
	const call = `"${tool}" hook --agent ${harness.name} ${token}`;
	if (harness.reply === undefined) return `/bin/sh -c '[ -n "$TMUX_PANE" ] || exit 0; ${call} 2>/dev/null || true'`;
	// The reply must come outside of tmux as well, because the harness parses what the hook prints.
	return `/bin/sh -c '[ -z "$TMUX_PANE" ] || ${call} >/dev/null 2>&1; echo "${harness.reply}"'`;
}

/** Whether a command of a settings file is one of ours, of this or an earlier version. */
export function isOurs(command: unknown): boolean {
	return typeof command === "string" && MARK.test(command);
}

/** The path goes into two levels of quotes, so it may hold nothing that either of them reads. */
function checkTool(tool: string): void {
	if (tool.startsWith("/") && !/['"$\\`\n]/.test(tool)) return;
	throw new PaneError(
		"hooks",
		`the path of agent-tmux, "${tool}", cannot be written into a hook; install it elsewhere`,
	);
}
