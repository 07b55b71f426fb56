import { closeSync, fchmodSync, fsyncSync, openSync, realpathSync, renameSync, statSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ignore } from "../lib/ignore.ts";
import { isJsonObject } from "../lib/json.ts";
import { makeFolder } from "../platform/folder.ts";
import { readJsonFile } from "../platform/json-file.ts";
import { acquireLease, type Lease, LeaseHeldError } from "../platform/lease.ts";

/** Settings could not be written; the file is as it was. */
class SettingsError extends Error {
	override name = "SettingsError";
	/** `broken`: the file holds no settings; `busy`: another process does not let go of it; `failed`: the disk. */
	readonly code: "broken" | "busy" | "failed";
	constructor(code: SettingsError["code"], message: string, options?: ErrorOptions) {
		super(message, options);
		this.code = code;
	}
}

/** The values of a settings file. */
type JsonObject = Readonly<Record<string, unknown>>;

/** Changes to make, by dotted path; undefined removes a setting. */
type SettingsChanges = Readonly<Record<string, unknown>>;

const LOCK = "settings.lock";
const WAIT_MS = 30_000;
const STEP_MS = 20;

/**
 * Changes single settings of a file and keeps everything else in it, also what other processes write meanwhile. The
 * file is replaced whole and has survived a power cut when this resolves; a crash at any moment leaves the old or the
 * new file. Makes the file (0600) and its folder (0700) where there are none.
 * @throws {SettingsError} when nothing was written; the signal's reason when it aborts first.
 */
export async function writeSettings(path: string, changes: SettingsChanges, signal?: AbortSignal): Promise<void> {
	const lease = await waitForLease(path, signal);
	try {
		replaceFile(resolveLink(path), Object.entries(changes).reduce(changeValue, readValues(path)));
	} catch (error) {
		if (error instanceof SettingsError) throw error;
		throw new SettingsError("failed", `${path} cannot be written: ${(error as Error).message}`, { cause: error });
	} finally {
		lease.release();
	}
}

/** Writers of all processes come one after the other, so that each reads what the one before wrote. */
async function waitForLease(path: string, signal: AbortSignal | undefined): Promise<Lease> {
	const deadline = performance.now() + WAIT_MS;
	for (;;) {
		signal?.throwIfAborted();
		try {
			return acquireLease(dirname(path), LOCK);
		} catch (error) {
			// A writer that cleans up after a crash may take the draft of a lease with it: that is worth another try.
			const isMissing = (error as NodeJS.ErrnoException).code === "ENOENT" && performance.now() <= deadline;
			if (!(error instanceof LeaseHeldError) && !isMissing) {
				throw new SettingsError("failed", `${path} cannot be locked: ${(error as Error).message}`, { cause: error });
			}
			if (performance.now() > deadline) {
				const holder = error instanceof LeaseHeldError ? error.owner : undefined;
				const owner = holder ? `process ${holder.pid}` : "another process";
				throw new SettingsError("busy", `${path} is being written by ${owner}. Try again when it is done.`);
			}
			// Of several that wait, none is always the last to look.
			await sleep(STEP_MS * (0.5 + Math.random()), undefined, signal ? { signal } : {});
		}
	}
}

function readValues(path: string): JsonObject {
	const file = readJsonFile(path);
	if (file.kind === "missing") return {};
	if (file.kind === "value" && isJsonObject(file.value)) return file.value;
	const reason = file.kind === "broken" ? file.reason : "it is not a JSON object";
	throw new SettingsError("broken", `${path} is not changed: ${reason}. Mend or remove it, then try again.`);
}

function changeValue(values: JsonObject, [path, value]: readonly [string, unknown]): JsonObject {
	const [key = "", ...rest] = path.split(".");
	const inner = Object.hasOwn(values, key) && isJsonObject(values[key]) ? values[key] : {};
	const changed = rest.length > 0 ? changeValue(inner, [rest.join("."), value]) : value;
	return { ...values, [key]: changed };
}

/** Where the file really lies: people keep settings elsewhere and link to them. */
function resolveLink(path: string): string {
	try {
		return realpathSync(path);
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === "ENOENT") return path;
		throw error;
	}
}

function replaceFile(path: string, values: JsonObject): void {
	const folder = dirname(path);
	makeFolder(folder);
	const draft = join(folder, ".settings.draft");
	// Only one process writes at a time, so that a draft that is there is what a crash left.
	const fd = openSync(draft, "w", 0o600);
	try {
		fchmodSync(fd, modeOf(path));
		writeAll(fd, Buffer.from(`${JSON.stringify(values, null, 2)}\n`));
		fsyncSync(fd);
	} finally {
		closeSync(fd);
	}
	renameSync(draft, path);
	syncFolder(folder);
}

function modeOf(path: string): number {
	return (statSync(path, { throwIfNoEntry: false })?.mode ?? 0o600) & 0o777;
}

function writeAll(fd: number, bytes: Buffer): void {
	for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done);
}

/** The new name is in the folder, so the folder has to reach the disk as well. */
function syncFolder(folder: string): void {
	const fd = openSync(folder, "r");
	try {
		fsyncSync(fd);
	} catch (error) {
		ignore(error, "some file systems cannot sync folders");
	} finally {
		closeSync(fd);
	}
}
