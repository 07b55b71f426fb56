import { dirname } from "node:path";
import { isJsonObject } from "../lib/json.ts";
import { readJsonFile } from "../platform/json-file.ts";
import { type Lease, LeaseHeldError, waitForLease } from "../platform/lease.ts";
import { replaceFile } from "../platform/whole-file.ts";

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

/**
 * Changes single settings of a file and keeps everything else in it, also what other processes write meanwhile. The
 * file is replaced whole and has survived a power cut when this resolves; a crash at any moment leaves the old or the
 * new file. Makes the file (0600) and its folder (0700) where there are none.
 * @throws {SettingsError} when nothing was written; the signal's reason when it aborts first.
 */
export async function writeSettings(path: string, changes: SettingsChanges, signal?: AbortSignal): Promise<void> {
	const lease = await takeLock(path, signal);
	try {
		const values = Object.entries(changes).reduce(changeValue, readValues(path));
		replaceFile(path, `${JSON.stringify(values, null, 2)}\n`);
	} catch (error) {
		if (error instanceof SettingsError) throw error;
		throw new SettingsError("failed", `${path} cannot be written: ${(error as Error).message}`, { cause: error });
	} finally {
		lease.release();
	}
}

/** Writers of all processes come one after the other, so that each reads what the one before wrote. */
async function takeLock(path: string, signal: AbortSignal | undefined): Promise<Lease> {
	try {
		return await waitForLease(dirname(path), LOCK, { limitMs: WAIT_MS, signal });
	} catch (error) {
		signal?.throwIfAborted();
		if (!(error instanceof LeaseHeldError)) {
			throw new SettingsError("failed", `${path} cannot be locked: ${(error as Error).message}`, { cause: error });
		}
		const owner = error.owner ? `process ${error.owner.pid}` : "another process";
		throw new SettingsError("busy", `${path} is being written by ${owner}. Try again when it is done.`);
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
