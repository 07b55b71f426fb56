import type { AssistantMessage } from "@earendil-works/pi-ai";
import { isContextOverflow as isKnownOverflow } from "@earendil-works/pi-ai/utils/overflow";
import { classifyFailure } from "./failure.ts";
import { hasOverflowWords } from "./wordings.ts";

/** From this share of the window on, a refused request with no other explanation was too long. */
const suspiciousShare = 0.95;

/**
 * Whether a reply failed, or fell silent, because the request did not fit into `contextWindow` tokens: by status 413,
 * code or wording (pi-ai's table, ours, `extraPatterns`), by reported usage, or because a request that filled 95 % of
 * the window (`estimatedTokens`, or the usage of the message) was refused without a reason that we know.
 */
export function isContextOverflow(
	message: AssistantMessage,
	contextWindow: number,
	extraPatterns: readonly RegExp[] = [],
	estimatedTokens = 0,
): boolean {
	if (message.stopReason !== "error") return isKnownOverflow(message, contextWindow);
	const text = message.errorMessage ?? "";
	if (extraPatterns.length > 0 && hasOverflowWords(text, extraPatterns)) return true;
	const failure = classifyFailure(message);
	if (failure?.kind === "context_overflow") return true;
	const tokens = Math.max(estimatedTokens, message.usage.input + message.usage.cacheRead + message.usage.cacheWrite);
	return failure?.status === 400 && failure.kind === "invalid_request" && tokens >= contextWindow * suspiciousShare;
}
