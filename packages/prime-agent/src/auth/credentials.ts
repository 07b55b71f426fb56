import { join } from "node:path";
import { isJsonObject } from "../lib/json.ts";
import { errorText } from "../lib/text.ts";
import { resolveConfigValue } from "../platform/config-value.ts";
import { readJsonFile } from "../platform/json-file.ts";
import { type Environment, homeFolder } from "../platform/paths.ts";
import { type Key, type KeyQuery, type KeyStatus, RENEW_CREDENTIALS } from "../protocol/credential.ts";
import type { AuthPort, AuthSourceToken } from "../session/ports.ts";
import { findAmbient } from "./ambient.ts";
import { type AuthFile, readAuthFile, type StoredCredential } from "./auth-file.ts";
import { createToken, RefusedTokens } from "./refused.ts";
import { canRenew } from "./renewable.ts";

/** Where credentials are looked for. */
interface CredentialsOptions {
	readonly agentFolder: string;
	readonly env: Environment;
	/** Milliseconds since 1970; `Date.now` if not given. */
	readonly now?: () => number;
	/** Sees every key that is found, so that it can be kept out of what is written down. */
	readonly onKey?: (key: string) => void;
}

interface Found {
	readonly status: KeyStatus;
	readonly value: string | undefined;
	/** `value` is as somebody wrote it into a file: it may name a variable or a command. */
	readonly configured?: boolean;
	readonly isLogin?: boolean;
	/** The login has expired and can be renewed when it is needed. */
	readonly isDue?: boolean;
	readonly env?: Readonly<Record<string, string>>;
}

const STALE: KeyStatus = { source: "stale", label: "expired" };

/**
 * Finds keys. Reads its files once, and again when what they had is of no use any more; writes nothing. A key that a
 * provider refused is passed over until it changes.
 */
export class Credentials implements AuthPort {
	readonly #agentFolder: string;
	readonly #env: Environment;
	readonly #now: () => number;
	readonly #onKey: (key: string) => void;
	readonly #runtime = new Map<string, string>();
	/** What configured values stand for, as resolved last. */
	readonly #values = new Map<string, string>();
	readonly #resolving = new Map<string, Promise<string>>();
	/** What was handed out last, by provider. */
	readonly #sent = new Map<string, { readonly status: KeyStatus; readonly value: string }>();
	readonly #refused = new RefusedTokens();
	#file: AuthFile | undefined;
	#primeKey: { readonly value: string | undefined } | undefined;

	constructor(options: CredentialsOptions) {
		this.#agentFolder = options.agentFolder;
		this.#env = options.env;
		this.#now = options.now ?? Date.now;
		this.#onKey = options.onKey ?? (() => undefined);
	}

	/** Uses this key for the provider in this process only, before every other. */
	setRuntimeKey(provider: string, key: string): void {
		this.#runtime.set(provider, key);
		this.#refused.forget(provider, "runtime");
	}

	/** What a person should know about the credentials file. */
	warnings(): readonly string[] {
		return this.#read().warnings;
	}

	/** The providers that the credentials file names. */
	stored(): readonly string[] {
		return [...this.#read().credentials.keys()];
	}

	/** Where the provider's key would come from, or undefined without one. Runs no command, shows no key. */
	async status(query: KeyQuery): Promise<KeyStatus | undefined> {
		let isStale = false;
		for (const found of this.#sources(query, () => isStale)) {
			const value = found.configured ? this.#values.get(found.value ?? "") : found.value;
			if (!this.#isStale(query.provider, found.status, value)) {
				this.#onKey(value ?? found.value ?? "");
				return found.status;
			}
			isStale = true;
		}
		return isStale ? STALE : undefined;
	}

	/**
	 * The provider's key, or undefined without one.
	 * @throws {Error} when a stored login has expired, the provider refused every key that there is, or a command that
	 * prints the key fails.
	 */
	async resolve(query: KeyQuery, signal?: AbortSignal): Promise<Key | undefined> {
		const { provider } = query;
		let stale: Found | undefined;
		for (const found of this.#sources(query, () => stale !== undefined)) {
			const { status } = found;
			if (found.isDue) return await this.#renew(query, signal);
			const apiKey = found.configured ? await this.#resolveValue(found, signal) : found.value;
			if (!this.#isStale(provider, status, apiKey)) {
				if (apiKey !== undefined) this.#handOut(provider, status, apiKey);
				return { apiKey, env: found.env ?? {}, status };
			}
			// The next time its command is asked anew.
			this.#resolving.delete(found.value ?? "");
			stale = found;
		}
		if (!stale) return undefined;
		const what = stale.isLogin ? "stored login" : "key";
		const why = stale.status.source === "stale" ? "has expired" : "was refused and is not sent again";
		throw new Error(`The ${what} for ${provider} ${why}. ${RENEW_CREDENTIALS}`);
	}

	/**
	 * What the last request to the provider carried. Who asks has met a refusal: what commands print and files hold is
	 * looked for anew.
	 */
	async current(provider: string): Promise<AuthSourceToken | undefined> {
		this.#forget();
		const sent = this.#sent.get(provider);
		return sent && createToken(provider, sent.status.source, sent.status.label, sent.value);
	}

	async markStale(provider: string, tokens: readonly AuthSourceToken[]): Promise<void> {
		this.#refused.add(provider, tokens);
		this.#forget();
	}

	async #renew(query: KeyQuery, signal?: AbortSignal): Promise<Key> {
		const { provider } = query;
		try {
			const { renewLogin } = await import("./login.ts");
			await renewLogin(this.#path(), provider, this.#now, signal);
		} catch (cause) {
			signal?.throwIfAborted();
			const message = `The stored login for ${provider} has expired and could not be renewed: ${errorText(cause)}`;
			throw new Error(`${message}. ${RENEW_CREDENTIALS}`, { cause });
		}
		this.#file = undefined;
		const renewed = this.#lookUp(query);
		if (renewed?.value === undefined || renewed.isDue || this.#isStale(provider, renewed.status, renewed.value)) {
			throw new Error(`The stored login for ${provider} has expired. ${RENEW_CREDENTIALS}`);
		}
		this.#handOut(provider, renewed.status, renewed.value);
		return { apiKey: renewed.value, env: {}, status: renewed.status };
	}

	#handOut(provider: string, status: KeyStatus, value: string): void {
		this.#sent.set(provider, { status, value });
		this.#onKey(value);
	}

	#forget(): void {
		this.#file = undefined;
		this.#primeKey = undefined;
		this.#resolving.clear();
	}

	#isStale(provider: string, { source, label }: KeyStatus, value: string | undefined): boolean {
		if (source === "stale") return true;
		return value !== undefined && this.#refused.has(provider, () => createToken(provider, source, label, value));
	}

	/** Every source that has something, in order; none without a key in place of one that is stale. */
	*#sources(query: KeyQuery, isStale: () => boolean): Generator<Found> {
		if (this.#refused.knows(query.provider)) {
			// Somebody may have put another key in its place, perhaps in another window.
			this.#file = undefined;
			this.#primeKey = undefined;
		}
		const runtime = this.#runtime.get(query.provider);
		if (runtime !== undefined) yield { status: { source: "runtime", label: "--api-key" }, value: runtime };
		const file = () => this.#fromFile(query);
		const environment = () => this.#fromEnvironment(query);
		const order = query.primeOrder ? [environment, () => this.#fromPrime(), file] : [file, environment];
		for (const look of order) {
			const found = look();
			if (found) yield found;
			// The environment does not step in for a login: its key may bill where the login would not.
			if (found?.isLogin) return;
		}
		const { fallback } = query;
		if (fallback) yield { status: { source: "fallback", label: "models.json" }, value: fallback, configured: true };
		else if (query.keyless && !isStale()) yield { status: { source: "keyless", label: "no key" }, value: undefined };
	}

	#fromFile(query: KeyQuery): Found | undefined {
		const found = this.#lookUp(query);
		if (found?.status.source !== "stale") return found;
		// Another process may have renewed the login since the file was read.
		this.#file = undefined;
		return this.#lookUp(query);
	}

	#lookUp(query: KeyQuery): Found | undefined {
		const { credentials } = this.#read();
		const names = [query.provider, ...(query.aliases ?? [])];
		const stored = names.map((name) => credentials.get(name)).find((entry) => entry !== undefined);
		return stored && this.#fromStored(stored, credentials.get(query.provider) === stored && canRenew(query.provider));
	}

	#fromStored(stored: StoredCredential, isKnown: boolean): Found {
		const label = "auth.json";
		if (stored.type === "api_key") {
			return { status: { source: "stored", label }, value: stored.key, configured: true, env: stored.env };
		}
		if (stored.expires <= this.#now()) {
			if (!stored.isRenewable || !isKnown) return { status: STALE, value: undefined, isLogin: true };
			const status: KeyStatus = { source: "stored", label: `${label}, login to be renewed` };
			return { status, value: undefined, isLogin: true, isDue: true };
		}
		return { status: { source: "stored", label: `${label}, login` }, value: stored.access, isLogin: true };
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

	async #resolveValue(found: Found, signal?: AbortSignal): Promise<string> {
		const text = found.value ?? "";
		const value = await this.#askValue(text, found.status.source === "fallback", signal);
		this.#values.set(text, value);
		return value;
	}

	#askValue(text: string, isAskedAlways: boolean, signal?: AbortSignal): Promise<string> {
		// The commands of models.json run for each request, as its documentation promises.
		if (isAskedAlways) return resolveConfigValue(text, this.#env, signal);
		const known = this.#resolving.get(text);
		if (known) return known;
		const resolving = resolveConfigValue(text, this.#env, signal);
		this.#resolving.set(text, resolving);
		// A command that failed may work the next time: a person may have to unlock something first.
		resolving.catch(() => this.#resolving.delete(text));
		return resolving;
	}

	#read(): AuthFile {
		this.#file ??= readAuthFile(this.#path());
		return this.#file;
	}

	#path(): string {
		return join(this.#agentFolder, "auth.json");
	}
}

function readPrimeKey(path: string): string | undefined {
	const file = readJsonFile(path);
	if (file.kind !== "value" || !isJsonObject(file.value)) return undefined;
	const key = file.value.api_key;
	return typeof key === "string" && key !== "" ? key : undefined;
}
