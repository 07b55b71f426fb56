import { createHash } from "node:crypto";
import type { AuthSourceToken } from "../session/ports.ts";

/** Tells a credential apart from a later one of the same source, without holding it. */
export function createToken(provider: string, source: string, label: string, value: string): AuthSourceToken {
	return {
		source,
		identityFingerprint: fingerprint(`${provider}\0${source}\0${label}`),
		valueFingerprint: fingerprint(`${provider}\0${value}`),
	};
}

/** The credentials that providers refused while this process runs. */
export class RefusedTokens {
	readonly #tokens = new Map<string, readonly AuthSourceToken[]>();

	add(provider: string, tokens: readonly AuthSourceToken[]): void {
		this.#tokens.set(provider, [...(this.#tokens.get(provider) ?? []), ...tokens]);
	}

	/** Whether the provider refused anything. */
	knows(provider: string): boolean {
		return this.#tokens.has(provider);
	}

	/** Whether the provider refused this value from this place. */
	has(provider: string, token: () => AuthSourceToken): boolean {
		const known = this.#tokens.get(provider);
		if (!known) return false;
		const { identityFingerprint, valueFingerprint } = token();
		return known.some(
			(one) => one.identityFingerprint === identityFingerprint && one.valueFingerprint === valueFingerprint,
		);
	}

	/** Somebody supplied this kind of credential anew, which counts even when it is the same one. */
	forget(provider: string, source: string): void {
		const known = this.#tokens.get(provider);
		if (known)
			this.#tokens.set(
				provider,
				known.filter((one) => one.source !== source),
			);
	}
}

/** Short enough that nothing can be won back from it. */
function fingerprint(text: string): string {
	return createHash("sha256").update(text).digest("hex").slice(0, 16);
}
