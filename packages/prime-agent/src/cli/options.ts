import { THINKING_LEVELS } from "../settings/settings.ts";

/** One option of a command, as people see it and as the parser needs it. */
export interface Option {
	readonly name: string;
	/** One letter, without the dash. */
	readonly short?: string;
	/** Other spellings, dashes included. */
	readonly aliases?: readonly string[];
	/** What stands for the value in help texts; without one the option takes none. */
	readonly value?: string;
	/** The value may be left out. */
	readonly isValueOptional?: boolean;
	/** May be given several times. */
	readonly isRepeatable?: boolean;
	/** The only values. */
	readonly choices?: readonly string[];
	readonly help: string;
}

/** Options under one heading of the help text. */
export interface OptionGroup {
	readonly title: string;
	readonly options: readonly Option[];
}

const HELP: Option = { name: "help", short: "h", help: "Show this help." };

/** The options of the command that runs a prompt. */
export const RUN_OPTIONS: readonly OptionGroup[] = [
	{
		title: "Run",
		options: [
			{ name: "print", short: "p", help: "Send the prompt, print the answer and exit." },
			{
				name: "mode",
				value: "mode",
				choices: ["text", "json"],
				help: "What is printed: the answer, or every event as a line of JSON (never interactive).",
			},
			{ name: "cwd", value: "dir", help: "Work in this folder instead of the current one." },
			{ name: "demo", help: "Show a run with a scripted model: no key, no settings, nothing is sent." },
		],
	},
	{
		title: "Model",
		options: [
			{ name: "provider", value: "provider", help: "Provider of the model." },
			{ name: "model", value: "id", help: "Model, as <id> or <provider>/<id>." },
			{ name: "api-key", value: "key", help: "Key for this run only; is not written down. Needs a model." },
			{
				name: "thinking",
				value: "level",
				choices: THINKING_LEVELS,
				help: "How hard the model should think.",
			},
		],
	},
	{
		title: "Session",
		options: [
			{ name: "continue", short: "c", help: "Go on with the newest session of this folder." },
			{
				name: "resume",
				short: "r",
				value: "path|id",
				isValueOptional: true,
				help: "Go on with this session: its file, its id, or an end of its id.",
			},
			{ name: "no-session", help: "Keep nothing on disk." },
			{ name: "session-dir", value: "dir", help: "Folder of the saved sessions." },
		],
	},
	{
		title: "Tools and instructions",
		options: [
			{ name: "tools", short: "t", value: "names", help: "Only these tools, separated by commas." },
			{ name: "no-tools", aliases: ["-nt"], help: "No tools at all." },
			{ name: "no-context-files", aliases: ["-nc"], help: "Do not read AGENTS.md and CLAUDE.md." },
			{ name: "system-prompt", value: "text", help: "Replace the system prompt by this text." },
			{
				name: "append-system-prompt",
				value: "text",
				isRepeatable: true,
				help: "Add this text to the system prompt.",
			},
		],
	},
	{
		title: "Other",
		options: [{ name: "version", short: "v", help: "Show the version." }, HELP],
	},
];

/** The options of `model list`. */
export const MODEL_LIST_OPTIONS: readonly OptionGroup[] = [
	{
		title: "Options",
		options: [{ name: "json", help: "Print an array of JSON objects." }, HELP],
	},
];

/** The options of `kernel status`. */
export const KERNEL_STATUS_OPTIONS: readonly OptionGroup[] = [
	{ title: "Options", options: [{ name: "json", help: "Print a JSON object." }, HELP] },
];

/** The options of `kernel install`. */
export const KERNEL_INSTALL_OPTIONS: readonly OptionGroup[] = [
	{
		title: "Options",
		options: [
			{ name: "python", value: "path", help: "Make the environment with this interpreter." },
			{ name: "wheels", value: "dir", help: "Take packages from this folder of wheels and from nowhere else." },
			{ name: "timeout", value: "seconds", help: "The longest that it may take; 600 when not given." },
			HELP,
		],
	},
];

/** The options of commands that have none of their own. */
export const HELP_OPTIONS: readonly OptionGroup[] = [{ title: "Options", options: [HELP] }];
