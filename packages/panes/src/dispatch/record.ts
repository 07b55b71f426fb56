import { execFile } from "node:child_process";
import { chmodSync, existsSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse, stringify } from "yaml";
import { makePrivateFolder } from "../clis/folder.ts";
import { PaneError, UsageError } from "../errors.ts";

/** What is known about one worker; absent facts are absent. A record with a pane is a pane worker. */
export interface DispatchRecord {
	readonly spawn_cmd: string;
	/** UTC, RFC 3339. */
	readonly started_at: string;
	readonly pid?: number;
	readonly pgid?: number;
	/** Limit of a headless run in seconds. */
	readonly timeout?: number;
	readonly pane?: string;
	readonly window?: string;
	readonly server?: string;
	readonly pane_pid?: number;
	/** Whether a prompt was verified to have arrived. */
	readonly delivered?: boolean;
}

/** Which worker is meant. */
export interface WorkerKey {
	readonly key: string;
	readonly stage: string;
}

/** Reads a worker's names; throws `UsageError` for names that could leave the folder. */
export function checkWorker(key: string, stage: string): WorkerKey {
	if (!/^[a-z0-9][a-z0-9-]{0,31}$/.test(key)) {
		throw new UsageError(`key "${key}" must be 1 to 32 of a-z, 0-9 and "-", not starting with "-"`);
	}
	if (!/^[a-z][a-z0-9-]{0,31}$/.test(stage)) throw new UsageError(`stage "${stage}" must be of a-z, 0-9 and "-"`);
	return { key, stage };
}

/** The folder under which records are kept: the top of the repository, else the folder itself. */
export function findRoot(cwd: string): Promise<string> {
	return new Promise((resolve) => {
		execFile("git", ["-C", cwd, "rev-parse", "--show-toplevel"], { timeout: 5000 }, (error, stdout) => {
			resolve(error ? cwd : stdout.trim());
		});
	});
}

/** The files of one worker. The worker itself writes only the result. */
export class WorkerFiles {
	readonly root: string;
	readonly folder: string;
	readonly worker: WorkerKey;

	constructor(root: string, dir: string, worker: WorkerKey) {
		this.root = root;
		this.folder = join(root, dir, worker.key);
		this.worker = worker;
	}

	get record(): string {
		return this.#file(".yaml");
	}

	get prompt(): string {
		return this.#file("-prompt.md");
	}

	get result(): string {
		return this.#file("-result.yaml");
	}

	get log(): string {
		return this.#file(".log");
	}

	get exit(): string {
		return this.#file(".exit");
	}

	/** The record, or undefined when the worker was never started. */
	readRecord(): DispatchRecord | undefined {
		const text = readIfThere(this.record);
		if (text === undefined) return undefined;
		const value = parse(text) as DispatchRecord | null;
		if (typeof value?.spawn_cmd === "string") return value;
		throw new PaneError(
			"no_record",
			`${this.record} is damaged; remove it with: agent-tmux dispatch clean ${this.worker.key}`,
		);
	}

	/** The record of a worker that must exist. */
	requireRecord(): DispatchRecord {
		const record = this.readRecord();
		if (record !== undefined) return record;
		const { key, stage } = this.worker;
		throw new PaneError(
			"no_record",
			`there is no worker ${key}/${stage}; start one with: agent-tmux dispatch open ${key} ${stage}`,
		);
	}

	writeRecord(record: DispatchRecord): void {
		this.#write(this.record, stringify(record));
	}

	readPrompt(): string | undefined {
		return readIfThere(this.prompt);
	}

	writePrompt(text: string): void {
		this.#write(this.prompt, text);
	}

	hasResult(): boolean {
		return existsSync(this.result);
	}

	/** Text of the exit file; an absent one means that the run has not ended. */
	readExit(): string | undefined {
		return readIfThere(this.exit);
	}

	readLog(): string {
		return readIfThere(this.log) ?? "";
	}

	/** Removes what an earlier attempt left. */
	removeOutcome(): void {
		for (const path of [this.result, this.exit, this.log]) rmSync(path, { force: true });
	}

	/** Takes result and exit away and returns how to put them back with their modes. */
	stashOutcome(): () => void {
		const taken = [this.result, this.exit].flatMap((path) => {
			const text = readIfThere(path);
			return text === undefined ? [] : [{ path, text, mode: statSync(path).mode & 0o777 }];
		});
		for (const { path } of taken) rmSync(path);
		return () => {
			for (const { path, text, mode } of taken) {
				writeFileSync(path, text, { mode });
				chmodSync(path, mode);
			}
		};
	}

	#file(ending: string): string {
		return join(this.folder, `${this.worker.stage}${ending}`);
	}

	#write(path: string, text: string): void {
		makePrivateFolder(this.folder);
		const temporary = `${path}.${process.pid}.tmp`;
		writeFileSync(temporary, text, { mode: 0o600 });
		renameSync(temporary, path);
	}
}

function readIfThere(path: string): string | undefined {
	return existsSync(path) ? readFileSync(path, "utf8") : undefined;
}
