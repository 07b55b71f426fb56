/** Longest wait that is believed at all: a day, in milliseconds; beyond it the number is an instant or nonsense. */
const dayMs = 86_400_000;

/**
 * How long a server asks to wait, in milliseconds, or `undefined` when it does not say: `retry-after-ms`,
 * `retry-after` (seconds or HTTP date), the `x-ratelimit-reset*` and `anthropic-ratelimit-*-reset` headers of exhausted
 * limits, then the delay that some servers name in the body. `nowMs` is the time of day that dates are compared with.
 */
export function readRetryAfter(headers: Headers, body: string, nowMs: number): number | undefined {
	const ms = readNumber(headers.get("retry-after-ms"));
	if (ms !== undefined) return Math.max(0, ms);
	const after = headers.get("retry-after");
	if (after !== null) {
		const seconds = readNumber(after);
		if (seconds !== undefined) return Math.max(0, Math.round(seconds * 1000));
		const date = Date.parse(after);
		if (!Number.isNaN(date)) return Math.max(0, date - nowMs);
	}
	return readResetHeaders(headers, nowMs) ?? readBodyDelay(body);
}

function readResetHeaders(headers: Headers, nowMs: number): number | undefined {
	const waits: number[] = [];
	for (const [name, value] of headers) {
		if (!/^(?:x-ratelimit-reset|anthropic-ratelimit-.*-reset$|ratelimit-reset)/.test(name)) continue;
		const remaining = headers.get(name.replace("reset", "remaining"));
		if (remaining !== null && Number(remaining) > 0) continue;
		const wait = readReset(value, nowMs);
		if (wait !== undefined) waits.push(wait);
	}
	return waits.length > 0 ? Math.max(...waits) : undefined;
}

/** `12`, `1.5`, `6m0s`, `120ms`, an RFC 3339 date, or an instant in Unix seconds or milliseconds. */
function readReset(value: string, nowMs: number): number | undefined {
	const number = readNumber(value);
	if (number !== undefined) {
		if (number > 1e11) return Math.max(0, number - nowMs);
		if (number > 1e9) return Math.max(0, number * 1000 - nowMs);
		return number * 1000 <= dayMs ? Math.max(0, Math.round(number * 1000)) : undefined;
	}
	const duration = readDuration(value);
	if (duration !== undefined) return duration;
	const date = Date.parse(value);
	return Number.isNaN(date) ? undefined : Math.max(0, date - nowMs);
}

const unitMs: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: dayMs };

function readDuration(value: string): number | undefined {
	if (!/^(?:\d+(?:\.\d+)?(?:ms|[smhd]))+$/.test(value.trim())) return undefined;
	let total = 0;
	for (const [, number, unit] of value.matchAll(/(\d+(?:\.\d+)?)(ms|[smhd])/g)) {
		total += Number(number) * (unitMs[unit ?? ""] ?? 0);
	}
	return Math.round(total);
}

/** Gemini: `"retryDelay": "34s"`; OpenAI: "Please try again in 1.2s"; Gemini's prose: "Please retry in 34.07s". */
function readBodyDelay(body: string): number | undefined {
	const found = /(?:"retryDelay"\s*:\s*"|(?:try again|retry) in )((?:\d+(?:\.\d+)?(?:ms|[smhd]))+)/i.exec(body)?.[1];
	return found === undefined ? undefined : readDuration(found);
}

function readNumber(value: string | null): number | undefined {
	return value !== null && /^-?\d+(?:\.\d+)?$/.test(value.trim()) ? Number(value) : undefined;
}
