/** What is known about a provider when its key is looked for. */
export interface KeyQuery {
	readonly provider: string;
	/** Other names under which the key may be stored. */
	readonly aliases?: readonly string[];
	/** Environment variables that may hold the key, first one first. */
	readonly variables: readonly string[];
	/** The cloud whose own tools may provide a credential. */
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

/** What to do when a provider takes none of its credentials; a text that names `/login` already says it. */
export const RENEW_CREDENTIALS =
	"Run /login to update credentials. It comes with the interactive mode; " +
	"until then put a working key into the environment, auth.json or models.json.";
