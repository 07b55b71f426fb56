/** Proves that a table of rules refuses what it says: for the tests of the formats. */

import type { Candidate, Rule, ServerOptions } from "./rule.ts";

/** One request to try on the rules. */
export interface RuleTrial {
	readonly body: unknown;
	readonly path?: string;
	readonly headers?: Readonly<Record<string, string>>;
	readonly options?: ServerOptions;
}

/** The names of all rules that refuse this request, not of the first alone. */
export function listBroken(rules: readonly Rule[], trial: RuleTrial): string[] {
	const candidate: Candidate = {
		path: trial.path ?? "",
		headers: trial.headers ?? {},
		body: trial.body,
		options: trial.options ?? {},
	};
	return rules.filter((rule) => rule.check(candidate)).map((rule) => rule.name);
}
