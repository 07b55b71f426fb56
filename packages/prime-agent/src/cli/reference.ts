import { COMMANDS, type Command, RUN } from "./commands.ts";
import { NOTES, optionForms, optionText, usageLine } from "./help.ts";

/** The reference page of the command line, from its tables. */
export function renderReference(): string {
	const parts = [
		"# Command line",
		"Made from the tables in `packages/prime-agent/src/cli`; a test compares the two.",
		...[RUN, ...COMMANDS].map(renderCommand),
		"## Rules",
		NOTES.map((note) => `- ${note}`).join("\n"),
	];
	return `${parts.join("\n\n")}\n`;
}

function renderCommand(command: Command): string {
	const tables = command.options.map(({ title, options }) => {
		const rows = options.map(
			(option) => `| \`${cell(optionForms(option))}\` | ${cell(withoutTags(optionText(option)))} |`,
		);
		return [`| ${title} | |`, "|---|---|", ...rows].join("\n");
	});
	const name = ["prime-agent", ...command.words].join(" ");
	return [`## ${name}`, command.summary, `\`${usageLine(command)}\``, ...tables].join("\n\n");
}

/** Angle brackets would be tags. */
function withoutTags(text: string): string {
	return text.replaceAll("<", "\\<");
}

/** A vertical bar would end the cell of a table. */
function cell(text: string): string {
	return text.replaceAll("|", "\\|");
}
