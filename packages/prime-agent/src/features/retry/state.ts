/** How a session retries failed requests; times in milliseconds. */
export interface RetryPolicy {
	readonly enabled: boolean;
	/** Attempts after the first failure. */
	readonly maxRetries: number;
	/** Wait before the first retry; doubles with each. */
	readonly baseDelayMs: number;
	/** Longest wait that a server may ask for; 0: any. */
	readonly maxRetryDelayMs: number;
}

/** Reads the settings `retry.*`; a value that is no sensible number counts as unset. */
export function readRetryPolicy(get: (path: string) => unknown): RetryPolicy {
	const count = (path: string, unset: number) => {
		const value = get(path);
		return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : unset;
	};
	return {
		enabled: get("retry.enabled") !== false,
		maxRetries: Math.floor(count("retry.maxRetries", 3)),
		baseDelayMs: count("retry.baseDelayMs", 2_000),
		maxRetryDelayMs: count("retry.provider.maxRetryDelayMs", 60_000),
	};
}
