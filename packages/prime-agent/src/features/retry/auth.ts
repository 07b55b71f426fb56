import type { AssistantMessage } from "@earendil-works/pi-ai";
import type { ProviderFailure } from "@prime-agent/loop";
import { RENEW_CREDENTIALS } from "../../protocol/credential.ts";
import type { FeatureHost } from "../../session/host.ts";
import { AUTH, type AuthSourceToken } from "../../session/ports.ts";

/** Whether the provider refused the credential that it was given; a missing one is another matter. */
export function isRefusedCredential({ kind, status }: ProviderFailure): boolean {
	return kind === "auth" && (status === 401 || status === 403);
}

/** The credentials that were refused since the last reply that came. */
export class RefusedCredentials {
	readonly #host: FeatureHost;
	readonly #refused = new Map<string, AuthSourceToken[]>();

	constructor(host: FeatureHost) {
		this.#host = host;
	}

	/** Whether this provider refused before. */
	has(provider: string): boolean {
		return this.#refused.has(provider);
	}

	/** Remembers what the provider refused: at the end another credential may be in its place. */
	async note(provider: string): Promise<void> {
		const tokens = this.#refused.get(provider) ?? [];
		this.#refused.set(provider, tokens);
		const token = await this.#host.findPort(AUTH)?.current(provider);
		if (token && !tokens.some((known) => isSame(known, token))) tokens.push(token);
	}

	/** A reply came: whatever was refused before, the credential in use is good. */
	forget(): void {
		this.#refused.clear();
	}

	/** Nobody tries again: takes what was refused out of use and says how to go on, unless the error does. */
	async giveUp({ errorMessage = "" }: AssistantMessage): Promise<void> {
		const refused = [...this.#refused];
		this.#refused.clear();
		const port = this.#host.findPort(AUTH);
		for (const [provider, sourceTokens] of refused) {
			if (!port || sourceTokens.length === 0) continue;
			await port.markStale(provider, sourceTokens);
			this.#host.emit("auth_stale", { provider, sourceTokens });
		}
		if (refused.length > 0 && !errorMessage.includes("/login")) this.#host.notify("warning", RENEW_CREDENTIALS);
	}
}

function isSame(one: AuthSourceToken, other: AuthSourceToken): boolean {
	return (
		one.source === other.source &&
		one.identityFingerprint === other.identityFingerprint &&
		one.valueFingerprint === other.valueFingerprint
	);
}
