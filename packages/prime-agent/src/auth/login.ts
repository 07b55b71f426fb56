import { dirname } from "node:path";
import type { OAuthCredential, Provider } from "@earendil-works/pi-ai";
import { isJsonObject } from "../lib/json.ts";
import { readJsonFile } from "../platform/json-file.ts";
import { type Lease, LeaseHeldError, waitForLease } from "../platform/lease.ts";
import { replaceFile } from "../platform/whole-file.ts";
import { canRenew, type RENEWABLE } from "./renewable.ts";

/** Providers whose logins can be renewed; each is loaded when one has expired. */
const PROVIDERS: Readonly<Record<(typeof RENEWABLE)[number], () => Promise<Provider>>> = {
	anthropic: async () => (await import("@earendil-works/pi-ai/providers/anthropic")).anthropicProvider(),
	"github-copilot": async () =>
		(await import("@earendil-works/pi-ai/providers/github-copilot")).githubCopilotProvider(),
	"kimi-coding": async () => (await import("@earendil-works/pi-ai/providers/kimi-coding")).kimiCodingProvider(),
	meta: async () => (await import("@earendil-works/pi-ai/providers/meta")).metaProvider(),
	openai: async () => (await import("@earendil-works/pi-ai/providers/openai")).openaiProvider(),
	"openai-codex": async () => (await import("@earendil-works/pi-ai/providers/openai-codex")).openaiCodexProvider(),
	radius: async () => (await import("@earendil-works/pi-ai/providers/radius")).radiusProvider(),
	xai: async () => (await import("@earendil-works/pi-ai/providers/xai")).xaiProvider(),
};

const LOCK = "auth.lock";
const LOCK_WAIT_MS = 30_000;
const RENEW_MS = 30_000;

/**
 * Renews the expired login of a provider in `auth.json` and writes it back before anybody uses it: many providers take
 * the old one only once. One process at a time renews; the others use what it wrote. Everything else in the file stays.
 * @throws {Error} when the provider or the disk refuses; the file is then as it was.
 */
export async function renewLogin(
	path: string,
	provider: string,
	now: () => number,
	signal?: AbortSignal,
): Promise<void> {
	const lease = await takeLock(dirname(path), signal);
	try {
		const { values, login } = readLogin(path, provider);
		if (!login || login.expires > now()) return;
		const oauth = (await loadProvider(provider)).auth.oauth;
		if (!oauth) throw new Error(`${provider} has no logins`);
		const limit = AbortSignal.timeout(RENEW_MS);
		const renewed = await oauth.refresh(login, signal ? AbortSignal.any([signal, limit]) : limit);
		const text = JSON.stringify({ ...values, [provider]: renewed }, null, 2);
		replaceFile(path, `${text}\n`, 0o600);
	} finally {
		lease.release();
	}
}

async function loadProvider(provider: string): Promise<Provider> {
	// a bundle finds the code of logins by this alone
	const { registerLazyOAuthFlows } = await import("@earendil-works/pi-ai/lazy-oauth");
	registerLazyOAuthFlows();
	if (!canRenew(provider)) throw new Error(`logins of ${provider} cannot be renewed here`);
	return await PROVIDERS[provider]();
}

function readLogin(path: string, provider: string) {
	const file = readJsonFile(path);
	if (file.kind !== "value" || !isJsonObject(file.value)) throw new Error(`${path} cannot be read any more`);
	const entry = file.value[provider];
	const isLogin = isJsonObject(entry) && entry.type === "oauth" && typeof entry.refresh === "string";
	return { values: file.value, login: isLogin ? (entry as unknown as OAuthCredential) : undefined };
}

async function takeLock(folder: string, signal: AbortSignal | undefined): Promise<Lease> {
	try {
		return await waitForLease(folder, LOCK, { limitMs: LOCK_WAIT_MS, signal });
	} catch (error) {
		if (!(error instanceof LeaseHeldError)) throw error;
		const owner = error.owner?.pid ?? "of somebody";
		throw new Error(`process ${owner} is renewing a login and does not end`, { cause: error });
	}
}
