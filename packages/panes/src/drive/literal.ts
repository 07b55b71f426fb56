import type { AgentCli, LiteralLimits } from "../clis/cli.ts";
import { PaneError } from "../errors.ts";
import { cleanPaste } from "../tmux/arguments.ts";
import { isSlashCommand, isTyped } from "./insert.ts";

/** How a text goes into a CLI's composer. */
export interface TextPlan {
	readonly text: string;
	readonly how: "typed" | "pasted";
	/** Rest between the text on the screen and Enter. */
	readonly restMs: number;
}

interface Trait {
	readonly limit: keyof LiteralLimits;
	readonly isIn: (text: string) => boolean;
	readonly effect: string;
}

const TRAITS: readonly Trait[] = [
	{ limit: "bang", isIn: (text) => text.startsWith("!"), effect: "runs a leading ! as a shell command" },
	{ limit: "question", isIn: (text) => text.startsWith("?"), effect: "drops a leading ?" },
	{
		limit: "path",
		isIn: (text) => text.startsWith("/") && !isSlashCommand(text),
		effect: "takes a leading / for a command",
	},
	{ limit: "tab", isIn: (text) => text.includes("\t"), effect: "does not keep tabs" },
	{ limit: "backslash", isIn: (text) => text.endsWith("\\"), effect: "makes a final \\ a new line" },
	{ limit: "leadingBlank", isIn: (text) => /^\s/.test(text), effect: "cuts off blanks at the start" },
	{ limit: "trailingBlank", isIn: (text) => /\s$/.test(text), effect: "cuts off blanks at the end" },
];

const DEFAULT_REST = { short: 60, long: 500 };
const LONG = 1000;

/**
 * Decides how a text is given to a CLI so that it arrives as it is: CRLF and one final newline are normalised, control
 * characters dropped. Throws `PaneError` with the reason for a text that the CLI is known to change, unless forced.
 */
export function planText(
	cli: AgentCli | undefined,
	message: string,
	options: { force?: boolean | undefined } = {},
): TextPlan {
	const text = cleanPaste(message).replace(/\n$/, "");
	if (text.trim() === "") throw new PaneError("usage", "the message is empty");
	const limits = cli?.literal ?? {};
	const changed = TRAITS.find((trait) => limits[trait.limit] === "always" && trait.isIn(text));
	if (changed !== undefined && !options.force) {
		throw new PaneError(
			"refused",
			`${cli?.name} ${changed.effect}, so the text would not arrive as it is. Change it, or send it with --force.`,
		);
	}
	const { short, long } = cli?.pasteRestMs ?? DEFAULT_REST;
	return { text, how: isTyped(text) ? "typed" : "pasted", restMs: text.length >= LONG ? long : short };
}
