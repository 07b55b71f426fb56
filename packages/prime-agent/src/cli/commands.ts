import {
	HELP_OPTIONS,
	KERNEL_INSTALL_OPTIONS,
	KERNEL_STATUS_OPTIONS,
	MODEL_LIST_OPTIONS,
	type OptionGroup,
	RUN_OPTIONS,
} from "./options.ts";

/** A command as people type it. */
export interface Command {
	/** Words that name it; none for the command that runs a prompt. */
	readonly words: readonly string[];
	/** What comes after the words, for the usage line. */
	readonly operands: string;
	readonly summary: string;
	readonly options: readonly OptionGroup[];
}

/** The command without a name: it runs a prompt. */
export const RUN: Command = {
	words: [],
	operands: "[options] [@files...] [prompt...]",
	summary: "Work on a prompt in the current folder.",
	options: RUN_OPTIONS,
};

/** Commands that exist. */
export const COMMANDS: readonly Command[] = [
	{ words: ["help"], operands: "[command]", summary: "Show how a command is used.", options: HELP_OPTIONS },
	{
		words: ["model", "list"],
		operands: "[--json]",
		summary: "List the models that have a key, and where the key comes from.",
		options: MODEL_LIST_OPTIONS,
	},
	{
		words: ["kernel", "status"],
		operands: "[--json]",
		summary: "Show which Python kernel a session here gets and why.",
		options: KERNEL_STATUS_OPTIONS,
	},
	{
		words: ["kernel", "install"],
		operands: "[options]",
		summary: "Make the environment with ipykernel that cells run in.",
		options: KERNEL_INSTALL_OPTIONS,
	},
];

/** Words that will be commands; typing one must not start a paid run. */
export const PLANNED_COMMANDS: readonly string[] = [
	"agents",
	"list",
	"attach",
	"stop",
	"rename",
	"send",
	"schedule",
	"status",
	"doctor",
	"shutdown",
	"mcp",
	"package",
	"update",
	"session",
	"config",
	"daemon",
];
