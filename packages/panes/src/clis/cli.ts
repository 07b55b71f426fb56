import type { ScreenRules } from "../screen/classify.ts";
import type { RecordReader } from "./records/record.ts";

/** The six slots that a caller can ask a model for. */
export const ROLES = ["default", "operator", "doing", "review", "hydrate", "fast"] as const;
/** One of the six slots. */
export type Role = (typeof ROLES)[number];

/** A proposed model and effort; they age, are never validated and one line of configuration outranks them. */
export interface Fill {
	readonly model?: string;
	readonly effort?: string;
}

/** What a CLI does with some text, and when: `typed` as keystrokes, `pasted` in a paste, `always` in both. */
export type When = "typed" | "always";

/** Texts that a CLI was seen not to take literally. */
export interface LiteralLimits {
	/** A leading `!` starts a shell command. */
	readonly bang?: When;
	/** A leading `?` is lost. */
	readonly question?: When;
	/** A leading slash that is no command is still taken for one when typed. */
	readonly path?: When;
	/** A tab is dropped or becomes blanks. */
	readonly tab?: When;
	/** A final backslash makes Enter a new line. */
	readonly backslash?: "always";
	/** Blanks at the start are cut off. */
	readonly leadingBlank?: "always";
	/** Blanks at the end are cut off. */
	readonly trailingBlank?: "always";
}

/** A screen that waits for a person before a prompt can be given. */
export interface Wall {
	readonly name: string;
	/** Pattern of the question; matched in the last rows of the screen. */
	readonly question: RegExp;
	/** Label to choose with `--accept-walls`; its row must carry the cursor before Enter is pressed. */
	readonly accept: RegExp;
	/** Glyph that marks the chosen row. */
	readonly cursor: RegExp;
	/** Notices and surveys are dismissed at launch; everything else only when the caller accepts walls. */
	readonly isNotice?: boolean;
}

/** Everything that is known about one agent CLI. Facts were seen on the versions in the fixtures unless a quirk says so. */
export interface AgentCli {
	readonly name: string;
	/** Names of its process as the kernel reports them. */
	readonly processes: readonly string[];
	/** Command of an interactive session, with `{model}` and `{effort}`. */
	readonly interactive: string;
	/** Command of a one-shot run, with the prompt on standard input. */
	readonly headless: string;
	readonly isNative?: boolean;
	readonly fills: Readonly<Partial<Record<Role, Fill>>>;
	/** How the CLI itself takes a headless prompt. */
	readonly promptChannel: "stdin" | "argument";
	/** A headless run prints nothing, or hangs, unless its output is a terminal. */
	readonly needsTerminal?: boolean;
	/** Flag for machine-readable output of a headless run. */
	readonly structured?: string;
	/** Command that continues a session, with `{id}`. */
	readonly resume?: string;
	/** First words after the program that make it a one-shot run. */
	readonly oneShot: readonly string[];
	/** Commands that show which models the installed program accepts. */
	readonly discovery: readonly string[];
	readonly skillPrefix: "/" | "$";
	readonly screen?: ScreenRules;
	/** What the CLI writes about its own turns, if anything. */
	readonly record?: RecordReader;
	/** Keys that stop a turn, and the key that queues a message while a turn runs when Enter would not. */
	readonly keys: { readonly interrupt: readonly string[]; readonly queue?: string };
	/** Rows that show a queued message. */
	readonly queued?: RegExp;
	/** Rest between a paste on the screen and Enter, and the rest for a paste of 1,000 characters or more. */
	readonly pasteRestMs?: { readonly short: number; readonly long: number };
	/** Key that takes back the blank which the CLI adds behind a folded paste. */
	readonly afterChip?: string;
	readonly literal: LiteralLimits;
	readonly walls: readonly Wall[];
	readonly launchEnv?: { readonly unset: readonly string[]; readonly set: Readonly<Record<string, string>> };
	/** Flags that `open` and `launch` add when the installed program knows them. */
	readonly launchFlags?: readonly string[];
	/** Flag that `launch` adds with a free port, at which the CLI then serves its state. */
	readonly portFlag?: string;
	/** Patterns of `launch --profile`, for programs that look like this CLI. */
	readonly patterns?: { readonly ready: RegExp; readonly busy: RegExp };
	/** Behaviour that was seen and matters to a driver. */
	readonly quirks: readonly string[];
}
