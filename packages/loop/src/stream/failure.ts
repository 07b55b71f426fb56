import type { AssistantMessage, JsonObject } from "@earendil-works/pi-ai";
import { hasOverflowWords } from "./wordings.ts";

/** What kind of thing went wrong between us and a model. */
export type FailureKind =
	| "auth"
	| "billing"
	| "rate_limit"
	| "overloaded"
	| "server_error"
	| "network"
	| "timeout"
	| "truncated"
	| "invalid_request"
	| "context_overflow"
	| "refusal"
	| "safety"
	| "unknown";

/** A failed model call, as programs see it. */
export interface ProviderFailure {
	kind: FailureKind;
	/** HTTP status, where there was a response. */
	status?: number;
	/** How long the server asked to wait. */
	retryAfterMs?: number;
	/** The same request will fail again until somebody changes something. */
	permanent: boolean;
}

/** What is known of a failure before it has a kind. */
export interface FailureEvidence {
	/** HTTP status; for a status of 200 with an error inside leave it out. */
	status?: number;
	/** Everything the server or library said: code, type, message. */
	text: string;
}

/** The type of the diagnostic that carries a `ProviderFailure` on a message. */
export const failureDiagnostic = "provider_stream_failure";

const permanentKinds: ReadonlySet<FailureKind> = new Set([
	"auth",
	"billing",
	"invalid_request",
	"context_overflow",
	"refusal",
	"safety",
]);

const words = {
	// Gemini words its per-minute limits as quota and billing, too, but then names a delay.
	quota: /insufficient_quota|exceeded your current quota/i,
	shortQuota: /resource_exhausted|retry in \d|retrydelay/i,
	billing:
		/billing_hard_limit|billing_not_active|billing_error|credit balance|insufficient[ _](?:funds|balance|credits?)|(?:out of|not enough|no) credits|payment required|unpaid|add (?:more )?credits|spend(?:ing)? limit|arrearage/i,
	auth: /unauthori[sz]ed|forbidden|invalid[ _](?:x-)?api[ _-]?key|incorrect api key|no api key|api key (?:not valid|is required|not found|expired)|authentication[ _](?:failed|error|required)|(?:expired|invalid)[ _](?:token|credential)|token (?:has )?expired|access denied|permission[ _]denied|invalid_grant|login for \S+ has expired\.|\b401\b|\b403\b/i,
	safety:
		/content[ _]?filter|content[ _]policy|safety|prohibited_content|blocklist|\brecitation\b|sensitive content|data_inspection_failed/i,
	refusal: /\brefus(?:al|ed to (?:answer|respond))\b/i,
	overloaded: /overloaded|over capacity|at capacity|engine_overloaded|server is busy|high demand|\b529\b/i,
	rateLimit:
		/rate[ _-]?limit|too many requests|throttl|resource_exhausted|tokens per (?:min|day)|requests per (?:min|day)|\b429\b/i,
	timeout: /timed?[ _-]?out|etimedout|und_err_(?:headers|body)_timeout|deadline exceeded/i,
	truncated: /ended without|unexpected end|unexpected eof|premature|incomplete (?:stream|response|chunk)/i,
	network:
		/econn(?:refused|reset|aborted)|enotfound|eai_again|ehostunreach|enetunreach|epipe|und_err_|fetch failed|socket|network|connection (?:error|lost|closed|reset|refused)|other side closed|terminated/i,
	server:
		/internal[ _]server|server[ _]error|api_error|bad gateway|service[ _]unavailable|gateway time|internal error|\b50[0-4]\b/i,
	invalid:
		/invalid[ _]request|bad request|not[ _]found|does not exist|unsupported|unprocessable|invalid_argument|\b4(?:00|04|22)\b/i,
	/** No network is at fault, and asking again changes nothing. */
	setUp:
		/cert_has_expired|self[ _-]signed|unable_to_verify|unable to verify|altname|certificate|wrong version number|invalid url|invalid character in header|\bit redirected\b/i,
};

/** Names the kind of a failure; what the server says refines its status where a status has several meanings. */
export function classifyEvidence({ status, text }: FailureEvidence): ProviderFailure {
	const kind = findKind(status, text);
	const isHopeless = status === 501 || status === 505 || (kind === "network" && words.setUp.test(text));
	return { kind, ...(status === undefined ? {} : { status }), permanent: permanentKinds.has(kind) || isHopeless };
}

function findKind(status: number | undefined, text: string): FailureKind {
	const isRateLimited = status === 429 || (status === undefined && words.rateLimit.test(text));
	if (status === 402 || words.billing.test(text)) return "billing";
	if (words.quota.test(text) && !words.shortQuota.test(text)) return "billing";
	if (!isRateLimited && (status === 413 || hasOverflowWords(text))) return "context_overflow";
	if (status === undefined) return findKindByWords(text);
	if (status === 401) return "auth";
	if (status === 429) return words.overloaded.test(text) ? "overloaded" : "rate_limit";
	if (status === 529) return "overloaded";
	if (status >= 500) return words.overloaded.test(text) ? "overloaded" : "server_error";
	if (status === 408) return "timeout";
	if (status === 409 || status === 425) return "unknown";
	if (status < 400) return findKindByWords(text);
	if (words.refusal.test(text)) return "refusal";
	if (words.safety.test(text)) return "safety";
	if (status === 403 || words.auth.test(text)) return "auth";
	return "invalid_request";
}

const wordOrder: [FailureKind, RegExp][] = [
	["refusal", words.refusal],
	["safety", words.safety],
	["overloaded", words.overloaded],
	["rate_limit", words.rateLimit],
	["auth", words.auth],
	["timeout", words.timeout],
	["truncated", words.truncated],
	["server_error", words.server],
	["network", words.setUp],
	["network", words.network],
	["invalid_request", words.invalid],
];

function findKindByWords(text: string): FailureKind {
	return wordOrder.find(([, pattern]) => pattern.test(text))?.[0] ?? "unknown";
}

/**
 * The failure that a message ended with: the one a guarded stream attached, else what its error text says.
 * `undefined` for messages whose stop reason is not `error`.
 */
export function classifyFailure(message: AssistantMessage): ProviderFailure | undefined {
	if (message.stopReason !== "error") return undefined;
	const attached = message.diagnostics?.findLast((diagnostic) => diagnostic.type === failureDiagnostic);
	return (
		(attached?.details && readFailure(attached.details)) ??
		classifyEvidence(readErrorText(message.errorMessage ?? message.rawStopReason ?? ""))
	);
}

/** Libraries put the status in front of the text: `429: {...}`, `500 oops`, `401 status code (no body)`. */
function readErrorText(text: string): FailureEvidence {
	const status = /^(?:error:? )?\(?([45]\d\d)\b/i.exec(text.trim())?.[1];
	return status === undefined ? { text } : { status: Number(status), text };
}

function readFailure(details: JsonObject): ProviderFailure | undefined {
	const { kind, status, retryAfterMs, permanent } = details;
	if (typeof kind !== "string") return undefined;
	return {
		kind: kind as FailureKind,
		...(typeof status === "number" ? { status } : {}),
		...(typeof retryAfterMs === "number" ? { retryAfterMs } : {}),
		permanent: typeof permanent === "boolean" ? permanent : permanentKinds.has(kind as FailureKind),
	};
}
