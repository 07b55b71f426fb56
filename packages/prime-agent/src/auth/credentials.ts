import { join } from "node:path";
import { resolveConfigValue } from "../platform/config-value.ts";
import { isJsonObject, readJsonFile } from "../platform/json-file.ts";
import { type Environment, homeFolder } from "../platform/paths.ts";
import { findAmbient } from "./ambient.ts";
import { type AuthFile, readAuthFile, type StoredCredential } from "./auth-file.ts";

/** What is known about a provider when its key is looked for. */
export interface KeyQuery {
	readonly provider: string;
	/** Other names under which the key may be stored. */
	readonly aliases?: readonly string[];
	/** Environment variables that may hold the key, first one first. */
	readonly variables: readonly string[];
	readonly ambient?: "aws" | "vertex";
	/** Environment, then Prime's command line, then the stored key. */
	readonly primeOrder?: boolean;
	/** Key of `models.json`, as configured: text, name of a variable, or `!command`. */
	readonly fallback?: string;
	/** The provider answers without a key. */
	readonly keyless?: boolean;
}

/** Where a key comes from. `label` names the variable or file and is safe to show. */
export interface KeyStatus {
	readonly source: "runtime" | "stored" | "environment" | "prime_cli" | "fallback" | "keyless" | "stale";
	readonly label: string;
}

/** A usable credential: a key, or none where the cloud's tools or nothing at all are asked for. */
export interface Key {
	readonly apiKey: string | undefined;
	/** Settings that are stored beside the key, for example account ids. */
	readonly env: Readonly<Record<string, string>>;
	readonly status: KeyStatus;
}

interface Found {
	readonly status: KeyStatus;
	readonly value: string | undefined;
	readonly configured?: boolean;
	readonly env?: Readonly<Record<string, string>>;
}

/** Finds keys. Reads its files once, when first asked; writes nothing. */
export class Credentials {
	readonly #agentFolder: string;
	readonly #env: Environment;
	readonly #now: () => number;
	readonly #runtime = new Map<string, string>();
	readonly #values = new Map<string, Promise<string>>();
	#file: AuthFile | undefined;
	#primeKey: { readonly value: string | undefined } | undefined;

	constructor(options: { agentFolder: string; env: Environment; now?: () => number }) {
		this.#agentFolder = options.agentFolder;
		this.#env = options.env;
		this.#now = options.now ?? Date.now;
	}

	/** Uses this key for the provider in this process only, before every other. */
	setRuntimeKey(provider: string, key: string): void {
		this.#runtime.set(provider, key);
	}

	/** What a person should know about the credentials file. */
	warnings(): readonly string[] {
		return this.#read().warnings;
	}

	/** Where the provider's key would come from, or undefined without one. Runs no command, shows no key. */
	async status(query: KeyQuery): Promise<KeyStatus | undefined> {
		return this.#find(query)?.status;
	}

	/**
	 * The provider's key, or undefined without one.
	 * @throws {Error} when a stored login has expired or a command that prints the key fails.
	 */
	async resolve(query: KeyQuery, signal?: AbortSignal): Promise<Key | undefined> {
		const found = this.#find(query);
		if (!found) return undefined;
		if (found.status.source === "stale") {
			// The environment does not step in: its key may bill where the login would not.
			throw new Error(`The stored login for ${query.provider} has expired. Run /login to update credentials.`);
		}
		const apiKey = found.configured ? await this.#resolveValue(found, signal) : found.value;
		return { apiKey, env: found.env ?? {}, status: found.status };
	}

	#find(query: KeyQuery): Found | undefined {
		const runtime = this.#runtime.get(query.provider);
		if (runtime !== undefined) return { status: { source: "runtime", label: "--api-key" }, value: runtime };
		const found = query.primeOrder
			? (this.#fromEnvironment(query) ?? this.#fromPrime() ?? this.#fromFile(query))
			: (this.#fromFile(query) ?? this.#fromEnvironment(query));
		return found ?? this.#fromFallback(query);
	}

	#fromFile(query: KeyQuery): Found | undefined {
		const { credentials } = this.#read();
		const names = [query.provider, ...(query.aliases ?? [])];
		const stored = names.map((name) => credentials.get(name)).find((entry) => entry !== undefined);
		return stored && this.#fromStored(stored);
	}

	#fromStored(stored: StoredCredential): Found {
		const label = "auth.json";
		if (stored.type === "api_key") {
			return { status: { source: "stored", label }, value: stored.key, configured: true, env: stored.env };
		}
		if (stored.expires <= this.#now()) return { status: { source: "stale", label: "expired" }, value: undefined };
		return { status: { source: "stored", label: `${label}, login` }, value: stored.access };
	}

	#fromEnvironment(query: KeyQuery): Found | undefined {
		const variable = query.variables.find((name) => this.#env[name]);
		if (variable) return { status: { source: "environment", label: variable }, value: this.#env[variable] };
		const ambient = query.ambient && findAmbient(query.ambient, this.#env);
		return ambient ? { status: { source: "environment", label: ambient }, value: undefined } : undefined;
	}

	#fromPrime(): Found | undefined {
		this.#primeKey ??= { value: readPrimeKey(join(homeFolder(this.#env), ".prime", "config.json")) };
		const { value } = this.#primeKey;
		return value === undefined ? undefined : { status: { source: "prime_cli", label: "~/.prime/config.json" }, value };
	}

	#fromFallback(query: KeyQuery): Found | undefined {
		const value = query.fallback;
		if (value) return { status: { source: "fallback", label: "models.json" }, value, configured: true };
		return query.keyless ? { status: { source: "keyless", label: "no key" }, value: undefined } : undefined;
	}

	#resolveValue(found: Found, signal?: AbortSignal): Promise<string> {
		const value = found.value ?? "";
		// The commands of models.json run for each request, as its documentation promises.
		if (found.status.source === "fallback") return resolveConfigValue(value, this.#env, signal);
		const known = this.#values.get(value);
		if (known) return known;
		const resolving = resolveConfigValue(value, this.#env, signal);
		this.#values.set(value, resolving);
		// A command that failed may work the next time: a person may have to unlock something first.
		resolving.catch(() => this.#values.delete(value));
		return resolving;
	}

	#read(): AuthFile {
		this.#file ??= readAuthFile(join(this.#agentFolder, "auth.json"));
		return this.#file;
	}
}

function readPrimeKey(path: string): string | undefined {
	const file = readJsonFile(path);
	if (file.kind !== "value" || !isJsonObject(file.value)) return undefined;
	const key = file.value.api_key;
	return typeof key === "string" && key !== "" ? key : undefined;
}
