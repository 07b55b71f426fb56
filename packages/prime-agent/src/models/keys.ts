/** What is known about a provider when its key is looked for. */
export interface KeyQuery {
	readonly provider: string;
	readonly aliases?: readonly string[];
	readonly variables: readonly string[];
	readonly ambient?: "aws" | "vertex";
	readonly primeOrder?: boolean;
	readonly fallback?: string;
	readonly keyless?: boolean;
}

/** Where a key comes from; safe to show. */
export interface KeyStatus {
	readonly source: string;
	readonly label: string;
}

/** A usable credential. `apiKey` is undefined where a cloud's own tools or nothing at all are asked for. */
export interface Key {
	readonly apiKey: string | undefined;
	readonly env: Readonly<Record<string, string>>;
	readonly status: KeyStatus;
}

/** Where this folder gets its keys: the port that the credentials fill. */
export interface KeyChain {
	/** Where the key would come from; undefined without one. Must run nothing. */
	status(query: KeyQuery): Promise<KeyStatus | undefined>;
	/** The key; undefined without one. May reject with a message for people. */
	resolve(query: KeyQuery, signal?: AbortSignal): Promise<Key | undefined>;
}
