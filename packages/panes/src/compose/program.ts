/**
 * The program that a shell line starts first: its first word behind `exec` and assignments. Undefined when only the shell
 * can tell, as with quotes, variables and an own PATH.
 */
export function programOf(command: string): string | undefined {
	const start = /^\s*(?:(?:exec|(?!PATH=)[A-Za-z_]\w*=[\w./:@%+,=-]*)\s+)*/.exec(command)?.[0] ?? "";
	return /^[\w./+][\w./+@:-]*(?=[\s;]|$)/.exec(command.slice(start.length))?.[0];
}
