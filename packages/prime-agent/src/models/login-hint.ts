import type { AssistantMessage } from "@earendil-works/pi-ai";
import { RENEW_CREDENTIALS } from "../protocol/credential.ts";

const REFUSALS =
	/\b(?:401|403)\b|unauthori[sz]ed|forbidden|invalid api key|incorrect api key|authentication failed|(?:expired|invalid) token|token (?:is |has )?(?:expired|invalid)|access denied|permission denied/i;

/** The same reply; when it failed because the credentials were refused, its error says how to renew them, once. */
export function addLoginHint(message: AssistantMessage): AssistantMessage {
	if (message.stopReason !== "error" || !isRefusal(message)) return message;
	const text = message.errorMessage ?? "The provider refused the credentials.";
	return text.includes("/login") ? message : { ...message, errorMessage: `${text}\n\n${RENEW_CREDENTIALS}` };
}

/** The kind of the failure decides where it is known; texts are read only without one. */
function isRefusal(message: AssistantMessage): boolean {
	const kind = message.diagnostics?.find((entry) => entry.type === "provider_stream_failure")?.details?.kind;
	return kind === undefined ? REFUSALS.test(message.errorMessage ?? "") : kind === "auth";
}
