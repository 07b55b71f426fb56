import { quoteWord } from "../tmux/arguments.ts";

/** Values for the placeholders of a command template; empty or absent ones are left out. */
export interface FillValues {
	readonly model?: string | undefined;
	readonly effort?: string | undefined;
}

/** Whether a template takes its values at placeholders or as flags at its end. */
export function fillModeOf(template: string): "template" | "append" {
	return /\{(?:model|effort)\}/.test(template) ? "template" : "append";
}

/**
 * Puts model and effort into a command template. An empty value drops its word and the flag before it, if the word is
 * none itself; with all placeholders filled the template's blanks stay as they are. A value without a placeholder is not
 * injected.
 */
export function composeCommand(template: string, values: FillValues): string {
	const given = { model: values.model ?? "", effort: values.effort ?? "" };
	if (fillModeOf(template) === "append") return appendFlags(template, given);
	const names = (["model", "effort"] as const).filter((name) => template.includes(`{${name}}`));
	const fill = (text: string) =>
		names.reduce((filled, name) => filled.replaceAll(`{${name}}`, quoteWord(given[name])), text);
	if (names.every((name) => given[name] !== "")) return fill(template);
	const kept: string[] = [];
	for (const word of template.split(/\s+/).filter((part) => part !== "")) {
		if (!names.some((name) => given[name] === "" && word.includes(`{${name}}`))) {
			kept.push(fill(word));
		} else if (!word.startsWith("-") && kept.at(-1)?.startsWith("-")) kept.pop();
	}
	return kept.join(" ");
}

/** Appends arguments for the launched CLI, each quoted, because the line is run by a shell. */
export function appendArguments(command: string, words: readonly string[]): string {
	return [command, ...words.map(quoteWord)].join(" ");
}

function appendFlags(template: string, given: { model: string; effort: string }): string {
	const model = given.model === "" ? "" : ` --model ${quoteWord(given.model)}`;
	const effort = given.effort === "" ? "" : ` --effort ${quoteWord(given.effort)}`;
	return `${template}${model}${effort}`;
}
