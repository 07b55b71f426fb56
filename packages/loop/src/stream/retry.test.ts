import { expect, test } from "vitest";
import type { ProviderFailure } from "./failure.ts";
import { isRetryable, type RetrySettings, retryDelay } from "./retry.ts";

const settings: RetrySettings = { maxRetries: 3, baseDelayMs: 2_000, maxRetryDelayMs: 60_000 };
const busy: ProviderFailure = { kind: "overloaded", permanent: false };

test("permanent failures are not retryable", () => {
	expect(isRetryable({ kind: "auth", permanent: true })).toBe(false);
	expect(isRetryable(busy)).toBe(true);
	expect(retryDelay({ kind: "billing", permanent: true }, 1, settings)).toBeUndefined();
});

test("waits double from the base delay until the attempts are used up", () => {
	expect([1, 2, 3, 4].map((attempt) => retryDelay(busy, attempt, settings))).toEqual([2_000, 4_000, 8_000, undefined]);
});

test("our own waits stop growing at the given cap and are spread by the jitter", () => {
	const spread = { ...settings, maxBackoffMs: 3_000, jitter: () => 0.5 };
	expect([1, 2, 3].map((attempt) => retryDelay(busy, attempt, spread))).toEqual([1_000, 1_500, 1_500]);
});

test.each([
	[0, 60_000, 0],
	[500, 60_000, 500],
	[60_000, 60_000, 60_000],
	[60_001, 60_000, undefined],
	[999_999_000, 60_000, undefined],
	[999_999_000, 0, 999_999_000],
])("a server that asks for %s ms with a cap of %s ms is given %s", (retryAfterMs, maxRetryDelayMs, wait) => {
	const jitter = () => 0.5;
	expect(retryDelay({ ...busy, retryAfterMs }, 1, { ...settings, maxRetryDelayMs, jitter })).toBe(wait);
});
