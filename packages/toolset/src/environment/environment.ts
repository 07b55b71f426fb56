/** What a path leads to, symbolic links followed. */
export interface FileStatus {
	kind: "file" | "directory" | "other";
	/** Bytes. */
	size: number;
	/** Milliseconds since the epoch. */
	modifiedAt: number;
	/** Equal for two names of one file, as on disks that do not tell upper from lower case. */
	identity?: string;
}

/** One entry of a folder; `link` is a symbolic link, which is not followed. */
export interface DirectoryEntry {
	/** Relative to the listed folder, with `/` between parts. */
	path: string;
	kind: "file" | "directory" | "link" | "other";
}

/** One shell command to run. */
export interface CommandRequest {
	command: string;
	/** Milliseconds until the command's process group is ended. */
	timeoutMs: number;
	/** Default: the working directory. */
	workingDirectory?: string;
	/** Added to the filtered environment, and filtered too. */
	variables?: Record<string, string>;
	signal?: AbortSignal | undefined;
	/** Takes output while it arrives. */
	onOutput?: ((text: string, stream: "stdout" | "stderr") => void) | undefined;
}

/** How a command ended and what it printed. */
export interface CommandResult {
	stdout: string;
	stderr: string;
	/** `null` when a signal ended the command. */
	exitCode: number | null;
	/** The signal that ended the command, for instance `SIGTERM`. */
	signal: string | null;
	timedOut: boolean;
	aborted: boolean;
	durationMs: number;
}

/** Which lines of which files to find. */
export interface GrepRequest {
	/** A regular expression. */
	pattern: string;
	/** A file or a folder, absolute. */
	path: string;
	/** Only files that match: without `/` the name, otherwise the path below the searched folder; `!` negates. */
	globFilter?: string | undefined;
	ignoreCase?: boolean | undefined;
	/** `lines`: matching lines; `files`: names of files with a match; `counts`: matching lines per file. */
	mode: "lines" | "files" | "counts";
	/** Upper limit for the number of result rows over all files. */
	maxResults: number;
	signal?: AbortSignal | undefined;
}

/** One row of a search: `line` and `text` for mode `lines`, `count` for mode `counts`. */
export interface GrepRow {
	/** Absolute. */
	path: string;
	line?: number;
	text?: string;
	count?: number;
}

/** Rows sorted by path and line; `capped` says that more would have matched. */
export interface GrepResult {
	rows: GrepRow[];
	capped: boolean;
}

/** Which files to list. */
export interface GlobRequest {
	/** With `**`, `*`, `?`, `[]` and `{}`; relative to `path` or absolute. */
	pattern: string;
	/** A folder, absolute. */
	path: string;
	signal?: AbortSignal | undefined;
}

/**
 * The machine that the tools work on: files, commands, search. Every tool goes through it, so that a host can put a
 * container or a remote machine behind the same tools. Paths are absolute unless said otherwise.
 *
 * File operations reject with an `EnvironmentError`; searches reject with one for a bad pattern or path.
 */
export interface ExecutionEnvironment {
	/** The folder against which relative paths are resolved. */
	workingDirectory(): string;
	/** `linux`, `darwin` or `windows`. */
	platform(): string;
	/** Name and version of the operating system in one line. */
	osVersion(): string;
	/** The absolute path behind `path`: relative parts, `..` and symbolic links resolved, also where nothing exists yet. */
	resolvePath(path: string): Promise<string>;
	/** `undefined` where nothing exists. */
	stat(path: string): Promise<FileStatus | undefined>;
	readFile(path: string, signal?: AbortSignal): Promise<Uint8Array>;
	/**
	 * Replaces the whole content in one step, creating parent folders; a reader sees the old or the new content. The
	 * mode of an existing file stays; with `like` the file gets the mode of that one.
	 */
	writeFile(path: string, content: Uint8Array, like?: string): Promise<void>;
	/** Gives a file another name on the same disk, replacing what has it. */
	renameFile(from: string, to: string): Promise<void>;
	deleteFile(path: string): Promise<void>;
	/** Entries down to `depth` levels, sorted by path. */
	listDirectory(path: string, depth: number, signal?: AbortSignal): Promise<DirectoryEntry[]>;
	/** Runs a command in its own process group with no input; rejects only if it cannot be started. */
	execCommand(request: CommandRequest): Promise<CommandResult>;
	grep(request: GrepRequest): Promise<GrepResult>;
	/** Absolute paths of files, newest first, equal times by name. */
	glob(request: GlobRequest): Promise<string[]>;
	/** The same machine seen from another working directory; what it starts is ended with this one. */
	at(workingDirectory: string): ExecutionEnvironment;
	/** Ends everything that commands left running; TERM, then KILL after the grace period. Safe to call twice. */
	cleanup(): Promise<void>;
	/** Ends everything at once, for a second interrupt. */
	killAll(): void;
}

/** Why a file operation or a search failed. */
export type EnvironmentErrorCode =
	| "not_found"
	| "is_directory"
	| "not_directory"
	| "no_permission"
	| "disk_full"
	| "bad_pattern"
	| "aborted"
	| "failed";

/** A failed file operation or search; the message names the path and is fit for the model and the user. */
export class EnvironmentError extends Error {
	readonly code: EnvironmentErrorCode;

	constructor(code: EnvironmentErrorCode, message: string, cause?: unknown) {
		super(message, cause === undefined ? undefined : { cause });
		this.name = "EnvironmentError";
		this.code = code;
	}
}

/** The error that an aborted operation of an environment rejects with. */
export function abortError(): EnvironmentError {
	return new EnvironmentError("aborted", "aborted");
}
