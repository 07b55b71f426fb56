import { release, type } from "node:os";
import { resolve } from "node:path";
import { runCommand } from "./command.ts";
import type {
	CommandRequest,
	CommandResult,
	DirectoryEntry,
	ExecutionEnvironment,
	FileStatus,
	GlobRequest,
	GrepRequest,
	GrepResult,
} from "./environment.ts";
import { deleteOne, listEntries, readStatus, readWhole, renameOne, resolveReal, writeWhole } from "./files.ts";
import { ProcessGroups } from "./groups.ts";
import { findRipgrep } from "./ripgrep.ts";
import { findFiles, searchContents } from "./search.ts";
import { selectVariables, type VariablePolicy } from "./variables.ts";

/** How the local environment is set up. */
export interface LocalOptions {
	/** Absolute. */
	workingDirectory: string;
	/** The host's environment variables, of which commands see what `variablePolicy` lets through. */
	variables: Record<string, string | undefined>;
	/** Default `filtered`: without names that look like those of secrets. */
	variablePolicy?: VariablePolicy;
	/** From TERM to KILL, in milliseconds. Default 2,000. */
	killGraceMs?: number;
	/** Bytes that are kept of each end of a command's output streams. Default 5,000,000. */
	keepBytes?: number;
	/** `built-in`: never ripgrep. Default `auto`: the bundled ripgrep, else one on PATH, else the built-in search. */
	search?: "auto" | "built-in";
}

/** The machine that this process runs on. */
export class LocalEnvironment implements ExecutionEnvironment {
	readonly #options: LocalOptions;
	readonly #groups: ProcessGroups;
	#ripgrep: Promise<string | undefined> | undefined;

	/** Touches nothing yet. Environments that share `groups` are ended together. */
	constructor(options: LocalOptions, groups = new ProcessGroups(options.killGraceMs ?? 2000)) {
		this.#options = options;
		this.#groups = groups;
	}

	at(workingDirectory: string): LocalEnvironment {
		return new LocalEnvironment({ ...this.#options, workingDirectory: this.#absolute(workingDirectory) }, this.#groups);
	}

	workingDirectory(): string {
		return this.#options.workingDirectory;
	}

	platform(): string {
		return process.platform === "win32" ? "windows" : process.platform;
	}

	osVersion(): string {
		return `${type()} ${release()}`;
	}

	resolvePath(path: string): Promise<string> {
		return resolveReal(this.#absolute(path));
	}

	stat(path: string): Promise<FileStatus | undefined> {
		return readStatus(this.#absolute(path));
	}

	readFile(path: string, signal?: AbortSignal): Promise<Uint8Array> {
		return readWhole(this.#absolute(path), signal);
	}

	writeFile(path: string, content: Uint8Array, like?: string): Promise<void> {
		return writeWhole(this.#absolute(path), content, like === undefined ? undefined : this.#absolute(like));
	}

	renameFile(from: string, to: string): Promise<void> {
		return renameOne(this.#absolute(from), this.#absolute(to));
	}

	deleteFile(path: string): Promise<void> {
		return deleteOne(this.#absolute(path));
	}

	listDirectory(path: string, depth: number, signal?: AbortSignal): Promise<DirectoryEntry[]> {
		return listEntries(this.#absolute(path), depth, signal);
	}

	execCommand(request: CommandRequest): Promise<CommandResult> {
		const { variables, variablePolicy = "filtered", keepBytes = 5_000_000 } = this.#options;
		return runCommand(request, {
			workingDirectory: this.#absolute(request.workingDirectory ?? "."),
			variables: selectVariables(variables, variablePolicy, request.variables),
			groups: this.#groups,
			keepBytes,
		});
	}

	async grep(request: GrepRequest): Promise<GrepResult> {
		if (this.#options.search !== "built-in") this.#ripgrep ??= findRipgrep(this.#options.variables.PATH);
		return searchContents({ ...request, path: this.#absolute(request.path) }, await this.#ripgrep);
	}

	glob(request: GlobRequest): Promise<string[]> {
		return findFiles({ ...request, path: this.#absolute(request.path) });
	}

	cleanup(): Promise<void> {
		return this.#groups.endAll();
	}

	killAll(): void {
		this.#groups.killAll();
	}

	#absolute(path: string): string {
		return resolve(this.#options.workingDirectory, path);
	}
}
