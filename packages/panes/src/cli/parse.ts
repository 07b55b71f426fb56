import { parseArgs } from "node:util";
import { UsageError } from "../errors.ts";
import type { CommandSpec, ParsedLine } from "./command.ts";

/** Parses the words after a command's name; throws `UsageError` that shows the accepted form. */
export function parseLine(spec: CommandSpec, words: readonly string[]): ParsedLine {
	const end = words.indexOf("--");
	const own = end < 0 ? words : words.slice(0, end);
	const rest = end < 0 ? [] : words.slice(end + 1);
	const { values, positionals } = readWords(spec, own);
	// Without a use for it, `--` only says that what follows are plain arguments.
	const plain = spec.takesRest ? positionals : [...positionals, ...rest];
	const [least, most] = spec.arity;
	if (plain.length < least || plain.length > most) {
		const count =
			least === most ? `${least}` : most === Number.POSITIVE_INFINITY ? `at least ${least}` : `${least} to ${most}`;
		throw usage(spec, `${count} argument(s) expected, ${plain.length} given`);
	}
	if (rest.length > 0 && !spec.takesRest && end < 0) throw usage(spec, "unexpected --");
	const all = (name: string) => {
		const value = values[name];
		return (Array.isArray(value) ? value : value === undefined ? [] : [value]).map(String);
	};
	return {
		positionals: plain,
		rest: spec.takesRest ? rest : [],
		all,
		text: (name) => all(name).at(-1),
		has: (name) => values[name] !== undefined,
		number: (name, smallest) => {
			const text = all(name).at(-1);
			if (text === undefined) return undefined;
			const value = text.trim() === "" ? Number.NaN : Number(text);
			if (!Number.isFinite(value) || value < smallest) {
				throw usage(spec, `--${name} needs a number of at least ${smallest}, not "${text}"`);
			}
			return value;
		},
	};
}

/** A usage error of a command, with its form. */
export function usage(spec: CommandSpec, problem: string): UsageError {
	return new UsageError(`${problem}\nusage: agent-tmux ${spec.name} ${spec.form}`.trimEnd());
}

type Values = Record<string, string | boolean | (string | boolean)[] | undefined>;

function readWords(spec: CommandSpec, words: readonly string[]): { values: Values; positionals: string[] } {
	const options: Record<string, { type: "string" | "boolean"; short?: string; multiple: boolean }> = {};
	for (const [name, flag] of Object.entries(spec.flags)) {
		const option = {
			type: flag.value === undefined ? ("boolean" as const) : ("string" as const),
			multiple: flag.repeats ?? false,
		};
		options[name] = flag.short === undefined ? option : { ...option, short: flag.short };
	}
	const bare = new Map<string, string>(
		Object.entries(spec.flags).flatMap(([name, flag]) =>
			flag.bare === undefined ? [] : [[`--${name}`, flag.bare] as const],
		),
	);
	const args = words.map((word) => (bare.has(word) ? `${word}=${bare.get(word)}` : word));
	try {
		return parseArgs({ args, options, allowPositionals: true, strict: true }) as {
			values: Values;
			positionals: string[];
		};
	} catch (error) {
		throw usage(spec, (error as Error).message.split(". ")[0] ?? "wrong arguments");
	}
}
