/**
 * Marks a failure that is expected and changes nothing, with the reason why. With AGENT_TMUX_DEBUG set it is shown on
 * standard error; otherwise nobody needs to know.
 */
export function ignore(error: unknown, why: string): undefined {
	if (process.env.AGENT_TMUX_DEBUG) console.error(`agent-tmux: ignored, ${why}:`, error);
	return undefined;
}
