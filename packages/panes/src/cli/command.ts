/** One flag of a command. */
export interface FlagSpec {
	readonly short?: string;
	/** Name of its value; a flag without one is a switch. */
	readonly value?: string;
	/** May be given several times. */
	readonly repeats?: boolean;
	/** Value that is meant when the flag stands without `=value`; other forms of the flag need none. */
	readonly bare?: string;
	readonly help: string;
}

/** How a command is called: the source of its parsing, its usage errors and its help. */
export interface CommandSpec {
	readonly name: string;
	/** What stands after the name, as people read it. */
	readonly form: string;
	readonly summary: string;
	readonly flags: Readonly<Record<string, FlagSpec>>;
	/** Smallest and largest number of plain arguments. */
	readonly arity: readonly [number, number];
	/** Whether words after `--` are taken. */
	readonly takesRest?: boolean;
	/** Lines that follow the flags in the help. */
	readonly notes?: readonly string[];
}

/** What a command got from its command line. */
export interface ParsedLine {
	readonly positionals: readonly string[];
	/** Words after `--`. */
	readonly rest: readonly string[];
	/** Value of a flag; the last one counts. */
	text(name: string): string | undefined;
	/** All values of a flag that repeats. */
	all(name: string): readonly string[];
	has(name: string): boolean;
	/** Value of a flag as a number of at least `least`; throws `UsageError` for anything else. */
	number(name: string, least: number): number | undefined;
}

/** Where a command writes and what it may know of its process. */
export interface CommandWorld {
	readonly env: NodeJS.ProcessEnv;
	readonly cwd: string;
	readonly signal: AbortSignal;
	/** Writes data to standard output; a line end is added. */
	readonly print: (text: string) => void;
	/** Writes a message to standard error; a line end is added. */
	readonly note: (text: string) => void;
	/** Asks a person and returns the answer; undefined when there is no terminal. */
	readonly ask: (question: string) => Promise<string | undefined>;
	/** Reads standard input to its end. */
	readonly readInput: () => Promise<string>;
}

/** A command: its specification and what it does; the number is the exit code. */
export interface Command {
	readonly spec: CommandSpec;
	readonly run: (line: ParsedLine, world: CommandWorld) => Promise<number>;
}
