/** Appends the shell that takes the pane over when the agent ends; for panes that people type into, never for workers. */
export function withShellFallback(command: string): string {
	return `${command}; exec "$SHELL"`;
}
