import { parseArgs } from "node:util";
import type { PermissionLevel, ProviderName } from "@prime-agent/toolset";
import { findSimilar } from "./suggest.ts";

/** What a command line asks for. */
export type Request =
	| { kind: "help" }
	| {
			kind: "run";
			prompt: string;
			provider: ProviderName;
			model: string | undefined;
			permissions: PermissionLevel;
			autoApprove: boolean;
			debug: boolean;
	  };

// The names are written down here, so that help and mistakes need no further module; the types keep them complete.
const providers = listNames<ProviderName>({ anthropic: true, openai: true, gemini: true });
const permissions = listNames<PermissionLevel>({ "read-only": true, "read-write": true, full: true });

function listNames<Name extends string>(names: Record<Name, true>): Name[] {
	return Object.keys(names) as Name[];
}

/** A command line that cannot be understood; the message names the part. */
export class UsageError extends Error {
	readonly code = "usage";

	constructor(message: string) {
		super(message);
		this.name = "UsageError";
	}
}

interface Flag {
	/** How the value is called in the help; absent for switches. */
	value?: string;
	choices?: readonly string[];
	fallback?: string;
	short?: string;
	help: string;
}

const flags: Record<string, Flag> = {
	provider: { value: "NAME", choices: providers, fallback: "anthropic", help: "Who serves the model" },
	model: { value: "ID", help: "The model; the provider's default if left out" },
	permissions: { value: "LEVEL", choices: permissions, fallback: "read-write", help: "What runs without asking" },
	"auto-approve": { help: "Never ask; refuse what the level does not allow" },
	debug: { help: "Show requests and responses on stderr" },
	help: { short: "h", help: "Show this text" },
};

function describeFlag([name, flag]: [string, Flag]): string {
	const spelling = `${flag.short ? `-${flag.short}, ` : "    "}--${name}${flag.value ? ` ${flag.value}` : ""}`;
	const choices = flag.choices ? `: ${flag.choices.join(", ")}` : "";
	const fallback = flag.fallback ? ` (default ${flag.fallback})` : "";
	return `  ${spelling.padEnd(25)}${flag.help}${choices}${fallback}`;
}

/** The one line that says how to call the program. */
export const usageLine = "Usage: agent [OPTIONS] <PROMPT>";

/** The whole help text. */
export function writeHelp(): string {
	return `${usageLine}

Gives one task to a coding agent in the current folder and exits when it is done.

Options:
${Object.entries(flags).map(describeFlag).join("\n")}

Levels: read-only reads and searches; read-write also changes files; full also runs commands.
In a terminal the agent asks before it goes beyond its level; otherwise it is refused.
Keys: ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY, by provider.
Exit code: 0 when the agent finished, 1 otherwise.
`;
}

function chooseValue<Choice extends string>(
	name: string,
	given: string | undefined,
	choices: readonly Choice[],
): Choice {
	const value = given ?? flags[name]?.fallback;
	const found = choices.find((choice) => choice === value);
	if (found === undefined)
		throw new UsageError(`--${name} does not know "${value}". Use one of: ${choices.join(", ")}.`);
	return found;
}

function parseTokens(args: readonly string[]) {
	const options = Object.fromEntries(
		Object.entries(flags).map(([name, { value, short }]) => [
			name,
			{ type: value === undefined ? ("boolean" as const) : ("string" as const), ...(short ? { short } : {}) },
		]),
	);
	return parseArgs({ args: [...args], options, allowPositionals: true, strict: false, tokens: true });
}

/** Reads a command line; throws a `UsageError` for everything that is not exactly one prompt with known options. */
export function parseArguments(args: readonly string[]): Request {
	const { tokens } = parseTokens(args);
	const values = new Map<string, string>();
	const prompts: string[] = [];
	for (const token of tokens) {
		if (token.kind === "positional") prompts.push(token.value);
		if (token.kind !== "option") continue;
		const { name, rawName, value } = token;
		const flag = Object.hasOwn(flags, name) ? flags[name] : undefined;
		if (!flag || (rawName !== `--${name}` && rawName !== `-${flag.short}`)) {
			const similar = findSimilar(name, Object.keys(flags));
			const hint = similar ? `Did you mean --${similar}?` : "A prompt that begins with - goes behind --.";
			throw new UsageError(`Unknown option ${rawName}. ${hint}`);
		}
		if (values.has(name)) throw new UsageError(`${rawName} is given twice.`);
		if (flag.value === undefined && value !== undefined) throw new UsageError(`${rawName} takes no value.`);
		// A value that looks like an option is more likely a forgotten value; --name=value takes any.
		if (flag.value !== undefined && (!value || (!token.inlineValue && value.startsWith("-")))) {
			throw new UsageError(`${rawName} needs a value.`);
		}
		values.set(name, value ?? "");
	}
	if (values.has("help")) return { kind: "help" };
	const provider = chooseValue("provider", values.get("provider"), providers);
	const level = chooseValue("permissions", values.get("permissions"), permissions);
	const [prompt, second] = prompts;
	if (prompt === undefined) throw new UsageError("The prompt is missing.");
	if (second !== undefined) {
		throw new UsageError(`One prompt is expected, and "${second}" is a second one. Put the prompt in quotes.`);
	}
	if (prompt.trim() === "") throw new UsageError("The prompt is empty.");
	return {
		kind: "run",
		prompt,
		provider,
		model: values.get("model"),
		permissions: level,
		autoApprove: values.has("auto-approve"),
		debug: values.has("debug"),
	};
}
