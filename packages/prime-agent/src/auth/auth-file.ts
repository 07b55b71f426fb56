import { statSync } from "node:fs";
import { isJsonObject } from "../lib/json.ts";
import { describeUnknown } from "../lib/unknown-keys.ts";
import { readJsonFile } from "../platform/json-file.ts";

/** A credential as `auth.json` keeps it; times are milliseconds since 1970. */
export type StoredCredential =
	| { readonly type: "api_key"; readonly key: string; readonly env: Readonly<Record<string, string>> }
	| { readonly type: "oauth"; readonly access: string; readonly expires: number; readonly isRenewable: boolean };

/** The readable credentials of a file by provider id, and what a person should know about the file. */
export interface AuthFile {
	readonly credentials: ReadonlyMap<string, StoredCredential>;
	readonly warnings: readonly string[];
}

const SHAPE = 'a key is written as { "type": "api_key", "key": "…" }.';
const LONGEST_NAME = 32;

/** Reads `auth.json`. Never throws; one unreadable entry hides no other, and no warning quotes the file. */
export function readAuthFile(path: string): AuthFile {
	const file = readJsonFile(path);
	const credentials = new Map<string, StoredCredential>();
	if (file.kind === "missing") return { credentials, warnings: [] };
	if (file.kind === "broken") return { credentials, warnings: [`${path} is not used: ${file.reason}.`] };
	if (!isJsonObject(file.value)) return { credentials, warnings: [`${path} is not used: it is not a JSON object.`] };

	const warnings = checkMode(path);
	for (const [index, [provider, entry]] of Object.entries(file.value).entries()) {
		const place = `${path}: ${isName(provider) ? `the entry of "${provider}"` : `entry ${index + 1}, whose name is as long as a key,`}`;
		const credential = readCredential(entry);
		if (credential) credentials.set(provider, credential);
		else warnings.push(`${place} is not a credential and is not used; ${SHAPE}`);
		warnings.push(...listUnknown(entry).map((fault) => `${place}: ${fault}`));
	}
	return { credentials, warnings };
}

function checkMode(path: string): string[] {
	const { mode } = statSync(path);
	if (process.platform === "win32" || (mode & 0o077) === 0) return [];
	return [`${path} can be read by other users of this machine. Run "chmod 600 ${path}".`];
}

/** Logins carry what their provider likes; a key has its own names. */
function listUnknown(entry: unknown): string[] {
	if (!isJsonObject(entry) || entry.type === "oauth") return [];
	return describeUnknown(Object.keys(entry).filter(isName), ["type", "key", "env"]);
}

/** What was pasted to the wrong place may be a key, and those are longer than names. */
function isName(text: string): boolean {
	return text.length <= LONGEST_NAME;
}

function readCredential(entry: unknown): StoredCredential | undefined {
	if (!isJsonObject(entry)) return undefined;
	if (entry.type === "oauth" && typeof entry.access === "string" && typeof entry.expires === "number") {
		const isRenewable = typeof entry.refresh === "string" && entry.refresh !== "";
		return { type: "oauth", access: entry.access, expires: entry.expires, isRenewable };
	}
	if (entry.type !== "api_key" || typeof entry.key !== "string" || entry.key === "") return undefined;
	const env = isJsonObject(entry.env) ? Object.entries(entry.env) : [];
	const texts = env.filter((pair): pair is [string, string] => typeof pair[1] === "string");
	return { type: "api_key", key: entry.key, env: Object.fromEntries(texts) };
}
