import { cleanPaste } from "../tmux/arguments.ts";
import type { PaneIO } from "./pane-io.ts";

/** Longest single line that is typed; everything else is pasted. */
const TYPE_LIMIT = 200;

/** Whether a text is a slash command rather than a path or prose: a pasted one would be taken as text. */
export function isSlashCommand(text: string): boolean {
	return /^\/[A-Za-z][\w:-]*(?: |$)/.test(text) && !text.includes("\n");
}

/**
 * Whether a text is typed as keystrokes: a slash command, or a short single line without tabs whose first character
 * has no meaning of its own in a composer.
 */
export function isTyped(text: string): boolean {
	if (text.includes("\n") || text.includes("\t")) return false;
	return isSlashCommand(text) || (text.length <= TYPE_LIMIT && !/^[!?@#/]/.test(text));
}

/** Puts a text into a composer, typed or pasted, without submitting it. Control characters are dropped. */
export async function insertText(io: PaneIO, text: string): Promise<void> {
	const clean = cleanPaste(text);
	if (isTyped(clean)) await io.type(clean);
	else await io.paste(clean);
}
