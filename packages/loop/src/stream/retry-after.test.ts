import { expect, test } from "vitest";
import { readRetryAfter } from "./retry-after.ts";

const now = Date.parse("2026-01-02T03:04:05Z");

test.each<[string, Record<string, string>, number | undefined]>([
	["seconds", { "retry-after": "2" }, 2_000],
	["parts of seconds", { "retry-after": "1.5" }, 1_500],
	["very many seconds", { "retry-after": "999999" }, 999_999_000],
	["zero", { "retry-after": "0" }, 0],
	["a negative number", { "retry-after": "-3" }, 0],
	["an HTTP date", { "retry-after": "Fri, 02 Jan 2026 03:04:35 GMT" }, 30_000],
	["an HTTP date that is over", { "retry-after": "Fri, 02 Jan 2026 03:00:00 GMT" }, 0],
	["milliseconds, which win", { "retry-after-ms": "250", "retry-after": "9" }, 250],
	["nonsense", { "retry-after": "soon" }, undefined],
	["nothing", {}, undefined],
	["a reset duration", { "x-ratelimit-reset-requests": "6m0s" }, 360_000],
	["a reset duration in milliseconds", { "x-ratelimit-reset-tokens": "120ms" }, 120],
	["a reset in seconds", { "x-ratelimit-reset": "12" }, 12_000],
	["a reset instant in Unix seconds", { "x-ratelimit-reset": String(now / 1000 + 7) }, 7_000],
	["a reset instant in Unix milliseconds", { "x-ratelimit-reset": String(now + 8_000) }, 8_000],
	["a reset instant as a date", { "anthropic-ratelimit-tokens-reset": "2026-01-02T03:04:10Z" }, 5_000],
	[
		"resets, of which only the exhausted one counts",
		{
			"x-ratelimit-reset-requests": "1h",
			"x-ratelimit-remaining-requests": "10",
			"x-ratelimit-reset-tokens": "3s",
			"x-ratelimit-remaining-tokens": "0",
		},
		3_000,
	],
	["Retry-After beside resets, which wins", { "retry-after": "1", "x-ratelimit-reset-tokens": "3s" }, 1_000],
])("the wait is read from %s", (_form, headers, wait) => {
	expect(readRetryAfter(new Headers(headers), "", now)).toBe(wait);
});

test.each([
	["Gemini's details", '{"error":{"details":[{"@type":"RetryInfo","retryDelay":"34s"}]}}', 34_000],
	["Gemini's prose", "Please retry in 34.07s.", 34_070],
	["OpenAI's prose", "Please try again in 1m2.5s. Visit the page", 62_500],
	["no prose at all", "Too many requests", undefined],
])("the wait is read from the body in the form of %s", (_form, body, wait) => {
	expect(readRetryAfter(new Headers(), body, now)).toBe(wait);
});
