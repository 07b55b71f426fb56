import { suggest } from "../lib/edit-distance.ts";
import { COMMANDS, type Command, PLANNED_COMMANDS, RUN } from "./commands.ts";
import { UsageError } from "./errors.ts";
import type { KernelInstallRequest } from "./kernel.ts";
import { type Arguments, findWords, optionValue, parseArguments } from "./parse.ts";

/** Which saved session a run belongs to. */
export type SessionChoice =
	| { readonly kind: "new" }
	| { readonly kind: "none" }
	| { readonly kind: "continue" }
	| { readonly kind: "resume"; readonly selector: string }
	/** A saved one, and nobody said which. */
	| { readonly kind: "unnamed" };

/** A prompt to run, as the command line has it. */
export interface RunRequest {
	readonly mode: "text" | "json";
	readonly isDemo: boolean;
	readonly cwd?: string;
	readonly provider?: string;
	readonly model?: string;
	readonly apiKey?: string;
	readonly thinking?: string;
	readonly session: SessionChoice;
	readonly sessionDir?: string;
	readonly tools: readonly string[] | "all" | "none";
	readonly hasContextFiles: boolean;
	readonly systemPrompt?: string;
	readonly appendSystemPrompt: readonly string[];
	/** Paths that were given as `@path`. */
	readonly files: readonly string[];
	/** The words of the prompt, joined; empty when there are none. */
	readonly prompt: string;
}

/** What a command line asks for. */
export type Intent =
	| { readonly kind: "version" }
	| { readonly kind: "help"; readonly commands: readonly Command[] }
	| { readonly kind: "modelList"; readonly isJson: boolean }
	| { readonly kind: "kernelStatus"; readonly isJson: boolean }
	| { readonly kind: "kernelInstall"; readonly request: KernelInstallRequest }
	| { readonly kind: "run"; readonly request: RunRequest }
	| { readonly kind: "interactive"; readonly request: RunRequest };

/**
 * Reads a command line. A first argument of one word is a command, never a prompt: a slip in a command must not cost a model call.
 * @throws {UsageError} with what to do instead.
 */
export function readIntent(argv: readonly string[]): Intent {
	const { words, isHeadless } = findWords(argv);
	const [first] = words;
	if (first !== undefined && !isHeadless && !isPrompt(first)) return readCommand(first, words, argv);

	const args = parseArguments(argv, RUN.options);
	if (args.options.has("help")) return { kind: "help", commands: [RUN] };
	if (args.options.has("version")) return { kind: "version" };
	const request = readRun(args);
	return { kind: args.options.has("print") || request.mode === "json" ? "run" : "interactive", request };
}

function isPrompt(word: string): boolean {
	return /\s/.test(word) || word.startsWith("@") || word.startsWith("/");
}

function readCommand(first: string, typed: readonly string[], argv: readonly string[]): Intent {
	const candidates = COMMANDS.filter((command) => command.words[0] === first);
	if (candidates.length === 0) throw unknownCommand(first, typed.slice(1));
	// which of them it is must be known before its options can be told from those of the others
	const all = candidates.flatMap((command) => command.options);
	const words = parseArguments(argv, all).words.map(({ text }) => text);
	const command = candidates.find((each) => each.words.every((word, index) => words[index] === word));
	if (command) {
		const args = parseArguments(argv, command.options);
		if (args.options.has("help")) return { kind: "help", commands: [command] };
		return startCommand(command, args, words.slice(command.words.length));
	}
	if (argv.includes("--help") || argv.includes("-h")) return { kind: "help", commands: candidates };
	const forms = candidates.map((command) => `prime-agent ${command.words.join(" ")}`).join(", ");
	throw new UsageError(`Missing or unknown ${first} command. Use: ${forms}.`);
}

function startCommand(command: Command, args: Arguments, operands: readonly string[]): Intent {
	if (command.words[0] === "help") return { kind: "help", commands: findCommands(operands) };
	if (operands.length > 0) {
		throw new UsageError(`"prime-agent ${command.words.join(" ")}" takes no "${operands[0]}".`);
	}
	const isJson = args.options.has("json");
	switch (command.words.join(" ")) {
		case "kernel status":
			return { kind: "kernelStatus", isJson };
		case "kernel install": {
			const text = (name: string) => optionValue(args, name);
			return {
				kind: "kernelInstall",
				request: { python: text("python"), wheels: text("wheels"), timeout: text("timeout") },
			};
		}
		default:
			return { kind: "modelList", isJson };
	}
}

function findCommands(words: readonly string[]): readonly Command[] {
	if (words.length === 0) return [RUN];
	const found = COMMANDS.filter((command) => words.every((word, index) => command.words[index] === word));
	if (found.length > 0) return found;
	throw unknownCommand(words[0]!, words.slice(1));
}

function unknownCommand(word: string, rest: readonly string[]): UsageError {
	if (PLANNED_COMMANDS.includes(word)) {
		return new UsageError(`The command "${word}" is not there yet. Run "prime-agent --help" for those that are.`);
	}
	const names = COMMANDS.map((command) => command.words[0]!);
	const typed = [word, ...rest].join(" ");
	// What comes after the word is kept, so that the line can be taken over as it is.
	const hint = suggest(word, names).replaceAll(/"([^"]+)"/g, (_all, name: string) => `"${[name, ...rest].join(" ")}"`);
	return new UsageError(
		`Unknown command "${typed}". ${hint}Run "prime-agent help" for all commands; to send it as a prompt: prime-agent -p "${typed}".`,
	);
}

function readRun(args: Arguments): RunRequest {
	const text = (name: string) => optionValue(args, name);
	const has = (name: string) => args.options.has(name);
	const isFile = (word: { text: string; isLiteral: boolean }) => !word.isLiteral && /^@./.test(word.text);
	if (has("demo")) {
		const needless = ["continue", "resume", "provider", "model", "api-key", "thinking"].find(has);
		if (needless) throw new UsageError(`--demo plays its own model in its own session: leave out --${needless}.`);
	}
	const optional = {
		cwd: text("cwd"),
		provider: text("provider"),
		model: text("model"),
		apiKey: text("api-key"),
		thinking: text("thinking"),
		sessionDir: text("session-dir"),
		systemPrompt: text("system-prompt"),
	};
	return {
		mode: text("mode") === "json" ? "json" : "text",
		isDemo: has("demo"),
		session: readSessionChoice(args),
		tools: readTools(args),
		hasContextFiles: !has("no-context-files"),
		appendSystemPrompt: args.options.get("append-system-prompt") ?? [],
		files: args.words.filter(isFile).map((word) => word.text.slice(1)),
		prompt: args.words
			.filter((word) => !isFile(word))
			.map((word) => word.text)
			.join(" "),
		...(Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== undefined)) as Partial<
			Record<keyof typeof optional, string>
		>),
	};
}

function readSessionChoice(args: Arguments): SessionChoice {
	const given = ["continue", "resume", "no-session"].filter((name) => args.options.has(name));
	if (given.length > 1) throw new UsageError(`Use only one of --${given.join(" and --")}.`);
	if (args.options.has("continue")) return { kind: "continue" };
	if (args.options.has("no-session")) return { kind: "none" };
	const selector = optionValue(args, "resume");
	if (selector === undefined) return { kind: "new" };
	return selector === "" ? { kind: "unnamed" } : { kind: "resume", selector };
}

function readTools(args: Arguments): RunRequest["tools"] {
	const list = optionValue(args, "tools");
	if (args.options.has("no-tools")) {
		if (list !== undefined) throw new UsageError("Use either --tools or --no-tools.");
		return "none";
	}
	if (list === undefined) return "all";
	const names = list.split(",").map((name) => name.trim());
	if (names.some((name) => name === "")) throw new UsageError("--tools needs names: --tools <name,name>.");
	return names;
}
