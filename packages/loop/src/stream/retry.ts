import type { ProviderFailure } from "./failure.ts";

/** How often and how long to wait; times in milliseconds. */
export interface RetrySettings {
	/** Attempts after the first failure. */
	maxRetries: number;
	/** Wait before the first retry; doubles with each. */
	baseDelayMs: number;
	/** Longest wait that a server may ask for; a longer one is no retry at all. 0: any. */
	maxRetryDelayMs: number;
	/** Longest wait of our own counting. Default: as long as doubling makes it. */
	maxBackoffMs?: number;
	/** A factor for our own waits, so that many clients do not come back at once. Default 1. */
	jitter?: () => number;
}

/** Whether the same request may succeed later without anybody doing something. */
export function isRetryable(failure: ProviderFailure): boolean {
	return !failure.permanent;
}

/**
 * Milliseconds to wait before retry number `attempt` (from 1), or `undefined` when there should be none: the failure is
 * permanent, the attempts are used up, or the server asks for more patience than allowed. What a server asks for counts
 * instead of the doubling wait.
 */
export function retryDelay(failure: ProviderFailure, attempt: number, settings: RetrySettings): number | undefined {
	if (!isRetryable(failure) || attempt > settings.maxRetries) return undefined;
	const asked = failure.retryAfterMs;
	if (asked !== undefined) {
		return settings.maxRetryDelayMs > 0 && asked > settings.maxRetryDelayMs ? undefined : asked;
	}
	const doubled = Math.min(settings.baseDelayMs * 2 ** (attempt - 1), settings.maxBackoffMs ?? Number.MAX_SAFE_INTEGER);
	return Math.round(doubled * (settings.jitter?.() ?? 1));
}
