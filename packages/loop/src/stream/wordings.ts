import { isContextOverflow as isKnownOverflow } from "@earendil-works/pi-ai/utils/overflow";
import { emptyMessage } from "../faults.ts";

/** Wordings that pi-ai's table does not have; each names a length and a limit. */
const moreWordings: RegExp[] = [
	/context_length_exceeded|context_window_exceeded|model_context_window_exceeded|request_too_large|max_tokens_exceeded/i,
	/(?:input|prompt|request|conversation|messages?) (?:is|are|was) too (?:long|large)/i,
	/(?:exceed(?:s|ed)?|over|beyond|larger than|longer than|greater than) (?:the |this |its )?(?:model'?s? )?(?:maximum |max(?:imum)? |available |configured )?(?:context|input|prompt)(?: (?:length|size|window|limit|tokens?))+/i,
	/maximum (?:context|input|prompt|sequence) (?:length|size)/i,
	/too many (?:input )?tokens/i,
	/(?:reduce|shorten) (?:the length of |your )?(?:the )?(?:messages?|prompt|input|conversation)/i,
	/context (?:window|length|size) (?:of \d+ )?(?:is )?(?:exceeded|full|too small)/i,
	/token count .{0,40}exceeds|(?:input|prompt|context)[ _-]tokens? exceeds?/i,
	/prompt .{0,40}too long|longer than the maximum model length|`inputs` .{0,60}(?:less than|<=) ?\d/i,
];

/** Texts about tokens that mean a rate, a quota or an output limit. */
const otherMeanings =
	/rate[ _-]?limit|per[ _-](?:minute|min|hour|day|second)|\bTPM\b|\bTPD\b|quota|throttl|too many tokens, please wait|max_tokens|max_completion_tokens|max_output_tokens|thinking\.budget/i;

const anyModel = { id: "", api: "", provider: "" };

/** Whether a server's words say that the request does not fit into the model's context. */
export function hasOverflowWords(text: string, extraPatterns: readonly RegExp[] = []): boolean {
	if (extraPatterns.some((pattern) => new RegExp(pattern.source, pattern.flags.replace(/[gy]/g, "")).test(text))) {
		return true;
	}
	if (otherMeanings.test(text) && !/context[ _](?:length|window|limit|size)/i.test(text)) return false;
	if (moreWordings.some((pattern) => pattern.test(text))) return true;
	return isKnownOverflow({ ...emptyMessage(anyModel), stopReason: "error", errorMessage: text });
}
