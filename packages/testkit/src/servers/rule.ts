/** What a real server refuses, as a table: each rule has a name, looks at one request and says what is wrong with it. */

import type { IncomingHttpHeaders } from "node:http";

/** One refused request in the words of a real server. */
export interface Problem {
	readonly message: string;
	/** HTTP status, 400 by default. */
	readonly status?: number;
	readonly param?: string;
	readonly code?: string;
}

/** What rules look at. `body` is the parsed JSON; nothing about its shape is sure. */
export interface Candidate {
	readonly path: string;
	readonly headers: IncomingHttpHeaders;
	readonly body: unknown;
	readonly options: ServerOptions;
}

/** One reason to refuse a request. A rule says nothing about requests whose shape another rule refuses. */
export interface Rule {
	readonly name: string;
	readonly check: (candidate: Candidate) => Problem | undefined;
}

/** Settings of a mock server. */
export interface ServerOptions {
	/** Tokens (bytes / 4 of the messages) that fit; more is refused with the real wording. Unlimited by default. */
	readonly contextWindow?: number;
	/** Models that exist; any name is accepted when absent. */
	readonly models?: readonly string[];
	/** The only key that is accepted; any is when absent. */
	readonly apiKey?: string;
}

/** The first rule that refuses the request, with its problem. */
export function findProblem(
	rules: readonly Rule[],
	candidate: Candidate,
): { readonly rule: string; readonly problem: Problem } | undefined {
	for (const rule of rules) {
		const problem = rule.check(candidate);
		if (problem) return { rule: rule.name, problem };
	}
	return undefined;
}
