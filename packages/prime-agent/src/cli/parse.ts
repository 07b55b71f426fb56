import { parseArgs } from "node:util";
import { suggest } from "../lib/edit-distance.ts";
import { UsageError } from "./errors.ts";
import {
	KERNEL_INSTALL_OPTIONS,
	KERNEL_STATUS_OPTIONS,
	MODEL_LIST_OPTIONS,
	type Option,
	type OptionGroup,
	RUN_OPTIONS,
} from "./options.ts";

/** The options of all commands; their names mean the same everywhere. */
const ALL_OPTIONS: readonly Option[] = [
	...RUN_OPTIONS,
	...MODEL_LIST_OPTIONS,
	...KERNEL_STATUS_OPTIONS,
	...KERNEL_INSTALL_OPTIONS,
].flatMap((group) => group.options);

/** A word that is no option; `isLiteral` when it came after `--`. */
export interface Word {
	readonly text: string;
	readonly isLiteral: boolean;
}

/** A command line taken apart; options by name, each with its values in order (flags have the value `""`). */
export interface Arguments {
	readonly options: ReadonlyMap<string, readonly string[]>;
	readonly words: readonly Word[];
}

/**
 * Takes a command line apart by a table.
 * @throws {UsageError} on an unknown option, a missing or needless value, or a value that is not among the choices.
 */
export function parseArguments(argv: readonly string[], groups: readonly OptionGroup[]): Arguments {
	const table = groups.flatMap((group) => group.options);
	const options = new Map<string, string[]>();
	const words: Word[] = [];
	let isLiteral = false;
	for (const token of tokenize(argv, table)) {
		if (token.kind === "option-terminator") isLiteral = true;
		else if (token.kind === "positional") words.push({ text: token.value, isLiteral });
		else {
			const option = findOption(token, table);
			const value = checkValue(option, token, table);
			options.set(option.name, option.isRepeatable ? [...(options.get(option.name) ?? []), value] : [value]);
		}
	}
	return { options, words };
}

/**
 * The words of a command line, whatever the command, and whether it runs a prompt without a person at the screen.
 * @throws {UsageError} on an option that no command knows, and on a value that it cannot have.
 */
export function findWords(argv: readonly string[]): { words: string[]; isHeadless: boolean } {
	const tokens = tokenize(argv, ALL_OPTIONS);
	const words: string[] = [];
	let isHeadless = false;
	for (const token of tokens) {
		if (token.kind === "option-terminator") break;
		if (token.kind === "positional") words.push(token.value);
		else {
			checkValue(findOption(token, ALL_OPTIONS), token, ALL_OPTIONS);
			if (token.name === "print") isHeadless = true;
		}
	}
	return { words, isHeadless };
}

/** The last value of an option, or undefined where it was not given. */
export function optionValue(args: Arguments, name: string): string | undefined {
	return args.options.get(name)?.at(-1);
}

interface OptionToken {
	readonly kind: "option";
	readonly name: string;
	readonly rawName: string;
	readonly value?: string | undefined;
	readonly inlineValue?: boolean | undefined;
	/** The whole argument that it was found in. */
	readonly argument: string;
}

function tokenize(argv: readonly string[], table: readonly Option[]) {
	const args = expandSpellings(argv, table);
	const { tokens } = parseArgs({
		args,
		options: Object.fromEntries(
			table.map((option) => [
				option.name,
				{
					type: option.value === undefined ? ("boolean" as const) : ("string" as const),
					...(option.short ? { short: option.short } : {}),
				},
			]),
		),
		strict: false,
		allowPositionals: true,
		tokens: true,
	});
	return tokens.map((token) => ({ ...token, argument: args[token.index] ?? "" }));
}

/** Rewrites what the parser does not know: spellings such as `-nt`, and options whose value may be left out. */
function expandSpellings(argv: readonly string[], table: readonly Option[]): string[] {
	const end = argv.indexOf("--");
	const known = end < 0 ? argv.length : end;
	return argv.map((argument, index) => {
		if (index >= known) return argument;
		const named = table.find((option) => option.aliases?.includes(argument));
		if (named) return `--${named.name}`;
		const optional = table.find(
			({ isValueOptional, name, short }) => isValueOptional && (argument === `--${name}` || argument === `-${short}`),
		);
		const next = index + 1 < known ? argv[index + 1] : undefined;
		return optional && (next === undefined || next.startsWith("-")) ? `--${optional.name}=` : argument;
	});
}

function checkValue(option: Option, token: OptionToken, table: readonly Option[]): string {
	const usage = `--${option.name}${option.value === undefined ? "" : ` <${option.value}>`}`;
	if (option.value === undefined) {
		if (token.value !== undefined) throw new UsageError(`Option --${option.name} takes no value.`);
		return "";
	}
	const { value } = token;
	const isNextOption = !token.inlineValue && value !== undefined && isOption(value, table);
	if (value === undefined || isNextOption || (value === "" && !option.isValueOptional)) {
		throw new UsageError(`Option --${option.name} needs a value: ${usage}.`);
	}
	if (option.choices && !option.choices.includes(value)) {
		throw new UsageError(`Unknown ${option.value} "${value}" for --${option.name}: use ${option.choices.join(", ")}.`);
	}
	return value;
}

function isOption(text: string, table: readonly Option[]): boolean {
	if (text === "--") return true;
	const [name] = text.split("=", 1);
	return table.some((option) => name === `--${option.name}` || (option.short && name === `-${option.short}`));
}

function findOption(token: OptionToken, table: readonly Option[]): Option {
	const option = table.find(({ name }) => name === token.name);
	if (option) return option;
	const hint = suggest(
		token.rawName,
		table.map(({ name }) => `--${name}`),
	);
	const prompt = /\s/.test(token.argument)
		? ' A prompt that begins with - goes behind "--": prime-agent -p -- "<prompt>".'
		: "";
	throw new UsageError(`Unknown option: ${token.rawName}. ${hint}Run "prime-agent --help" for all options.${prompt}`);
}
