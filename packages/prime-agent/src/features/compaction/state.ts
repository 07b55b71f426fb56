import type { Entry } from "../../protocol/entry.ts";

/** Type of the entries by which a cell asks for a compaction, and by which the wish is dropped. */
export const REQUEST_ENTRY = "compaction_request";

/** A compaction that waits for the end of the turn. */
export interface CompactionRequest {
	readonly instructions: string | null;
}

/** The waiting request after an entry: a compaction answers it, a newer request replaces it. */
export function reduceRequest(waiting: CompactionRequest | undefined, entry: Entry): CompactionRequest | undefined {
	if (entry.type === "compaction") return undefined;
	if (entry.customType !== REQUEST_ENTRY) return waiting;
	return (entry.data as { readonly request: CompactionRequest | null }).request ?? undefined;
}

/** What compaction goes by, in tokens. */
export interface CompactionLimits {
	readonly enabled: boolean;
	/** Whether code in a cell may ask for it. */
	readonly agentCallable: boolean;
	/** From this size on, the context is compacted. */
	readonly threshold: number;
	/** Room for the summary and for the reply after it. */
	readonly reserve: number;
	/** Newest messages that stay as they are. */
	readonly keepRecent: number;
}

/** Largest shares of the context window that the settings may claim. */
const SHARES = { reserve: 0.25, keepRecent: 0.4 };

/** Reads the settings `compaction.*` for a context window of this many tokens. */
export function readLimits(get: (path: string) => unknown, contextWindow: number): CompactionLimits {
	const tokens = (path: string, unset: number) => {
		const value = get(path);
		return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : unset;
	};
	const claim = (value: number, share: number) => Math.floor(Math.min(value, contextWindow * share));
	const reserve = claim(tokens("compaction.reserveTokens", 16_384), SHARES.reserve);
	return {
		enabled: get("compaction.enabled") !== false,
		agentCallable: get("compaction.agentCallable") !== false,
		threshold: contextWindow - reserve,
		reserve,
		keepRecent: claim(tokens("compaction.keepRecentTokens", 20_000), SHARES.keepRecent),
	};
}

/** Wordings of servers that mean "too long", as a person wrote them. */
export interface OverflowPatterns {
	readonly usable: readonly RegExp[];
	/** What is no regular expression. */
	readonly broken: readonly string[];
}

/** Reads the setting `compaction.overflowPatterns`: a list of regular expressions, case-insensitive. */
export function readOverflowPatterns(value: unknown): OverflowPatterns {
	const usable: RegExp[] = [];
	const broken: string[] = [];
	for (const source of Array.isArray(value) ? value : []) {
		// The empty expression would take every failure for an overflow.
		const pattern = typeof source === "string" && source !== "" ? compile(source) : undefined;
		if (pattern) usable.push(pattern);
		else broken.push(String(source));
	}
	return { usable, broken };
}

/** Undefined for a text that is no regular expression. */
function compile(source: string): RegExp | undefined {
	try {
		return new RegExp(source, "i");
	} catch {
		return undefined;
	}
}
