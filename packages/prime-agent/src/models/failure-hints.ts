import type { Api, AssistantMessage } from "@earendil-works/pi-ai";
import { type KeyStatus, RENEW_CREDENTIALS } from "../protocol/credential.ts";

/** A request, as far as it tells why it failed. */
interface SentRequest {
	readonly provider: string;
	readonly api: Api;
	readonly key: KeyStatus;
	/** Where a person wrote the provider's address; undefined for the provider's own. */
	readonly written: string | undefined;
	/** The address that was asked; undefined where nothing was sent. */
	readonly address: string | undefined;
}

const REFUSALS =
	/\b(?:401|403)\b|unauthori[sz]ed|forbidden|invalid api key|incorrect api key|authentication failed|(?:expired|invalid) token|token (?:is |has )?(?:expired|invalid)|access denied|permission denied/i;

/**
 * The same reply; where it failed because of how the program is set up, its error says below its first line which
 * key, address or server that was. How to renew credentials is said once.
 */
export function addHints(message: AssistantMessage, request: SentRequest): AssistantMessage {
	if (message.stopReason !== "error") return message;
	const { kind, status } = message.diagnostics?.find(({ type }) => type === "provider_stream_failure")?.details ?? {};
	const text = message.errorMessage ?? "";
	// The kind decides where it is known; texts are read only without one.
	if (kind === "auth" || (kind === undefined && REFUSALS.test(text))) {
		const said = `${text}\n${describeRefusal(request, status === 403)}`.trimStart();
		const isSaid = text.includes("/login");
		return { ...message, errorMessage: isSaid ? said : `${said}\n\n${RENEW_CREDENTIALS}` };
	}
	const hint = status === 404 ? describeAddress(request) : describeSilence(text, request);
	return hint === undefined ? message : { ...message, errorMessage: `${text}\n${hint}` };
}

function describeRefusal({ provider, key }: SentRequest, isForbidden: boolean): string {
	if (key.source === "keyless") {
		return `${provider} wants a key, and there is none: write it as "apiKey" of provider ${provider} into models.json.`;
	}
	const place = describePlace(provider, key);
	return isForbidden ? `${provider} does not allow this with ${place}.` : `${provider} refused ${place}.`;
}

function describePlace(provider: string, { source, label }: KeyStatus): string {
	if (source === "runtime") return `the key of ${label}`;
	if (source === "fallback") return `the key in ${label} (apiKey of provider ${provider})`;
	const [file, login] = label.split(", ");
	return `the ${login === undefined ? "key" : "login"} in ${file}`;
}

/** Most servers that speak OpenAI's formats do so below `/v1`, and the path is added to what was written. */
function describeAddress({ api, written, address }: SentRequest): string | undefined {
	if (written === undefined || address === undefined) return undefined;
	const { origin, pathname } = new URL(address);
	const isShort = api.startsWith("openai-") && !/\/v\d/.test(pathname);
	const hint = isShort ? " Most servers want an address that ends in /v1." : "";
	return `Asked was ${origin}${pathname}; the address comes from ${written}.${hint}`;
}

function describeSilence(text: string, { provider, written }: SentRequest): string | undefined {
	if (written === undefined || !text.includes("ECONNREFUSED")) return undefined;
	return `Is the server of provider ${provider} running? Its address comes from ${written}.`;
}
