const hidden = "[redacted]";

const secretHeaders = /^(?:set-)?cookie$|authorization|api[-_]?key|[-_]key$|token$|secret|credential/i;
const secretParameters = /^(?:key|api[-_]?key|access[-_]?token|token|auth|secret|sig|signature|x-amz-.*)$/i;

/** Things that look like credentials wherever they stand: bearer tokens and the key prefixes of well-known services. */
const secretShapes: RegExp[] = [
	/\b(Bearer|Basic)(\s+)[A-Za-z0-9._~+/=-]{8,}/gi,
	/()()\b(?:sk-|csk-|sk_|rk_|gsk_|xai-|nvapi-|hf_|gh[opsu]_|github_pat_|r8_)[A-Za-z0-9_-]{12,}/g,
	/()()\bAIza[A-Za-z0-9_-]{20,}/g,
	/()()\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g,
	/()()\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*/g,
];

/** No text of fewer characters has one of these shapes. */
const shortestShape = 14;

/** The credentials that headers carry, each as it stands there and without the word for its kind. */
export function findSecrets(headers: Iterable<readonly [name: string, value: string | null]>): string[] {
	return [...headers].flatMap(([name, value]) => {
		if (value === null || !secretHeaders.test(name)) return [];
		return [value, value.replace(/^(?:bearer|basic)\s+/i, "")];
	});
}

/** Takes credentials out of what is about to be shown or stored. */
export interface Redactor {
	/** Remembers a credential; every later text is freed of it, whatever it looks like. */
	learn(secret: string | null | undefined): void;
	/** Learns the credentials that a request carries. */
	study(url: string, headers: Headers): void;
	text(value: string): string;
	url(value: string): string;
	/** As an object with lower-case names; also learns the secret values. */
	headers(value: Headers): Record<string, string>;
}

/** A redactor that knows these secrets. */
export function createRedactor(...known: (string | undefined)[]): Redactor {
	/** The secrets as they stand in texts, in addresses and in JSON. */
	const forms = new Set<string>();
	const learn = (secret: string | null | undefined) => {
		// Shorter ones are no credentials, and replacing them everywhere would only garble texts.
		if (!secret || secret.length < 6) return;
		forms.add(secret).add(encodeURIComponent(secret)).add(JSON.stringify(secret).slice(1, -1));
	};
	const redactText = (value: string) => {
		let clean = value;
		for (const form of forms) clean = clean.replaceAll(form, hidden);
		if (clean.length < shortestShape) return clean;
		for (const shape of secretShapes) {
			clean = clean.replace(shape, (_all, word: string, blank: string) => `${word}${blank}${hidden}`);
		}
		return clean;
	};
	const studyAddress = (url: URL) => {
		learn(url.password);
		for (const [name, parameter] of url.searchParams) if (secretParameters.test(name)) learn(parameter);
	};
	for (const secret of known) learn(secret);
	return {
		learn,
		study(url, headers) {
			for (const secret of findSecrets(headers)) learn(secret);
			// Most addresses carry none, and to take them apart is not free.
			if (/[?@]/.test(url) && URL.canParse(url)) studyAddress(new URL(url));
		},
		text: redactText,
		url(value) {
			if (!URL.canParse(value)) return redactText(value);
			const url = new URL(value);
			studyAddress(url);
			if (url.username || url.password) {
				url.username = "";
				url.password = "";
			}
			for (const name of [...url.searchParams.keys()]) {
				if (secretParameters.test(name)) url.searchParams.set(name, "redacted");
			}
			return redactText(url.href);
		},
		headers(value) {
			for (const secret of findSecrets(value)) learn(secret);
			return Object.fromEntries(
				[...value].map(([name, text]) => [name, secretHeaders.test(name) ? hidden : redactText(text)]),
			);
		},
	};
}
