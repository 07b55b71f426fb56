import { COMMANDS, type Command, RUN } from "./commands.ts";
import type { Option } from "./options.ts";

const COLUMN = 30;

/** The usage line of a command. */
export function usageLine(command: Command): string {
	return ["prime-agent", ...command.words, command.operands].join(" ");
}

/** How an option is written, for example `-r, --resume [<path|id>]`. */
export function optionForms(option: Option): string {
	const value = option.value === undefined ? "" : ` <${option.value}>`;
	const shown = option.isValueOptional ? ` [${value.trim()}]` : value;
	const names = [option.short && `-${option.short}`, ...(option.aliases ?? []), `--${option.name}`];
	return `${names.filter(Boolean).join(", ")}${shown}`;
}

/** What an option does, with its choices. */
export function optionText(option: Option): string {
	const choices = option.choices ? ` One of ${option.choices.join(", ")}.` : "";
	const repeatable = option.isRepeatable ? " Can be given several times." : "";
	return `${option.help}${choices}${repeatable}`;
}

/** The help text of a command, from its table. */
export function renderHelp(command: Command): string {
	const lines = [`Usage: ${usageLine(command)}`, "", command.summary];
	if (command === RUN) {
		lines.push("", "Commands:", ...COMMANDS.map((each) => row(usageLine(each), each.summary)));
	}
	for (const group of command.options) {
		lines.push("", `${group.title}:`, ...group.options.map((option) => row(optionForms(option), optionText(option))));
	}
	if (command === RUN) lines.push("", ...NOTES);
	return `${lines.join("\n")}\n`;
}

function row(left: string, right: string): string {
	const head = `  ${left}`;
	return head.length < COLUMN ? `${head.padEnd(COLUMN)}${right}` : `${head}\n${" ".repeat(COLUMN)}${right}`;
}

/** What the tables do not say about a prompt. */
export const NOTES: readonly string[] = [
	'A prompt is several words in quotes ("fix the tests"), comes with -p or after --, or begins with @ or /.',
	"Any other first word is a command, also with --mode json.",
	"@path puts a file into the prompt, images included; text that is piped in comes first.",
	"The answer is written to stdout, everything else to stderr. The exit code is 0, or 1 for every failure.",
];
