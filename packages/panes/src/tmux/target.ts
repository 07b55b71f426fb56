import { UsageError } from "../errors.ts";

/** Where a verb points: a pane, a window, or the logical name of a session that `launch` made. */
export type Target =
	| { readonly kind: "pane"; readonly id: string }
	| { readonly kind: "window"; readonly id: string }
	| { readonly kind: "name"; readonly name: string };

/** Reads a target word: `%N`, `@N`, `=session:window`, else a logical name; throws `UsageError` for anything inexact. */
export function parseTarget(word: string): Target {
	if (/^%\d+$/.test(word)) return { kind: "pane", id: word };
	if (/^@\d+$/.test(word)) return { kind: "window", id: word };
	if (/^=[^:\s]+:[^:\s]+$/.test(word)) return { kind: "window", id: word };
	if (/^[%@=]/.test(word)) throw new UsageError(`"${word}" is no exact target: use %PANE, @WINDOW or =session:window`);
	return { kind: "name", name: checkName(word) };
}

/** Returns a logical session name that tmux keeps as it is; tmux itself would turn `.` and `:` into `_`. */
export function checkName(name: string): string {
	if (name === "") throw new UsageError("the session name is empty");
	if (name.startsWith("-")) throw new UsageError(`session name "${name}" starts with "-"`);
	if (/[.:]/.test(name)) throw new UsageError(`session name "${name}" holds "." or ":", which tmux replaces by "_"`);
	if (/[\s\p{Cc}]/u.test(name)) throw new UsageError(`session name "${name}" holds a blank or a control character`);
	if (/^[%@=$]/.test(name)) throw new UsageError(`session name "${name}" looks like a tmux id`);
	return name;
}
