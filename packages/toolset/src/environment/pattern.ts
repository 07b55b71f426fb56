import { EnvironmentError } from "./environment.ts";

const expansionLimit = 1000;

/** `a{b,c}` → `ab`, `ac`; nested braces too. A brace without a comma or without its end stands for itself. */
function expandBraces(pattern: string): string[] {
	const open = findOpening(pattern);
	if (!open) return [pattern];
	const { start, end, parts } = open;
	const results = parts.flatMap((part) => expandBraces(pattern.slice(0, start) + part + pattern.slice(end + 1)));
	if (results.length > expansionLimit) {
		throw new EnvironmentError("bad_pattern", `The pattern ${pattern} stands for too many alternatives.`);
	}
	return results;
}

function findOpening(pattern: string): { start: number; end: number; parts: string[] } | undefined {
	for (let start = pattern.indexOf("{"); start >= 0; start = pattern.indexOf("{", start + 1)) {
		if (pattern[start - 1] === "\\") continue;
		let depth = 0;
		let from = start + 1;
		const parts: string[] = [];
		for (let at = start; at < pattern.length; at++) {
			const character = pattern[at];
			if (character === "\\") at++;
			else if (character === "{") depth++;
			else if (character === "," && depth === 1) {
				parts.push(pattern.slice(from, at));
				from = at + 1;
			} else if (character === "}" && --depth === 0) {
				parts.push(pattern.slice(from, at));
				if (parts.length > 1) return { start, end: at, parts };
				break;
			}
		}
	}
	return undefined;
}

/** The bracket expression that opens at `start`, as the source of a character class, and where it ends. */
function bracketSource(segment: string, start: number): { source: string; end: number } | undefined {
	const negated = segment[start + 1] === "!" || segment[start + 1] === "^";
	const from = start + (negated ? 2 : 1);
	// A ] right after the opening stands for itself.
	const end = segment.indexOf("]", from + 1);
	if (end < 0) return undefined;
	return { source: `[${negated ? "^" : ""}${segment.slice(from, end).replace(/[\\\][^]/g, "\\$&")}]`, end };
}

type Token = "*" | ((character: string) => boolean);

/** One segment of a path, matched without going back and forth, so that no pattern takes long. */
class SegmentPattern {
	readonly #tokens: Token[] = [];
	/** A leading dot has to be written out: wildcards do not reach hidden entries. */
	readonly #reachesHidden: boolean;

	/** `pattern` is the whole, for the error. */
	constructor(segment: string, pattern: string) {
		this.#reachesHidden = /^\\?\./.test(segment);
		for (let at = 0; at < segment.length; at++) {
			const character = String.fromCodePoint(segment.codePointAt(at)!);
			if (character === "*") this.#tokens.push("*");
			else if (character === "?") this.#tokens.push(() => true);
			else if (character === "[") {
				const bracket = bracketSource(segment, at);
				if (!bracket) throw new EnvironmentError("bad_pattern", `The pattern ${pattern} has a [ without its ].`);
				const source = new RegExp(`^${bracket.source}$`, "su");
				this.#tokens.push((one) => source.test(one));
				at = bracket.end;
			} else {
				const isEscape = character === "\\" && at + 1 < segment.length;
				const literal = isEscape ? String.fromCodePoint(segment.codePointAt(at + 1)!) : character;
				this.#tokens.push((one) => one === literal);
				at += literal.length - (isEscape ? 0 : 1);
			}
		}
	}

	matches(text: string): boolean {
		if (text.startsWith(".") && !this.#reachesHidden) return false;
		const characters = [...text];
		let token = 0;
		let at = 0;
		let star = -1;
		let starAt = 0;
		while (at < characters.length) {
			const current = this.#tokens[token];
			if (current === "*") {
				star = token++;
				starAt = at;
			} else if (current?.(characters[at]!)) {
				token++;
				at++;
			} else if (star >= 0) {
				// The last star takes one character more.
				token = star + 1;
				at = ++starAt;
			} else return false;
		}
		return this.#tokens.slice(token).every((left) => left === "*");
	}
}

interface Alternative {
	segments: (SegmentPattern | "**")[];
	names: string[];
}

function compileAlternative(pattern: string): Alternative {
	const written = pattern.split("/").filter((segment) => segment !== "" && segment !== ".");
	const names = written.filter((segment, at) => segment !== "**" || written[at - 1] !== "**");
	const segments = names.map((segment) => (segment === "**" ? ("**" as const) : new SegmentPattern(segment, pattern)));
	return { segments, names };
}

/** A compiled file name pattern with `**`, `*`, `?`, `[]` and `{}`; matches paths relative to its base. */
export class GlobPattern {
	readonly #alternatives: Alternative[];

	/** Throws an `EnvironmentError` for a pattern that cannot be read. */
	constructor(pattern: string) {
		if (pattern.trim() === "") throw new EnvironmentError("bad_pattern", "The pattern is empty.");
		try {
			this.#alternatives = expandBraces(pattern).map(compileAlternative);
		} catch (error) {
			if (error instanceof EnvironmentError) throw error;
			throw new EnvironmentError("bad_pattern", `The pattern ${pattern} cannot be read.`, error);
		}
	}

	/** Whether the pattern names `segment` literally in some part. */
	names(segment: string): boolean {
		return this.#alternatives.some((alternative) => alternative.names.includes(segment));
	}

	/** Whether a file at `path` (relative, with `/`) matches. */
	matches(path: string): boolean {
		const parts = path.split("/");
		return this.#alternatives.some(({ segments }) => findStates(segments, parts).has(segments.length));
	}

	/** Whether a file below the folder `path` could match. */
	canMatchBelow(path: string): boolean {
		const parts = path === "" ? [] : path.split("/");
		return this.#alternatives.some(({ segments }) =>
			[...findStates(segments, parts)].some((state) => state < segments.length),
		);
	}
}

/** How many segments can have been used up by the parts; all ways are followed at once. */
function findStates(segments: Alternative["segments"], parts: readonly string[]): Set<number> {
	// A ** may stand for nothing.
	const reach = (states: Iterable<number>) => {
		const reached = new Set(states);
		for (const state of reached) if (segments[state] === "**") reached.add(state + 1);
		return reached;
	};
	let states = reach([0]);
	for (const part of parts) {
		const next: number[] = [];
		for (const state of states) {
			const segment = segments[state];
			if (segment === "**") {
				if (!part.startsWith(".")) next.push(state);
			} else if (segment?.matches(part)) next.push(state + 1);
		}
		states = reach(next);
	}
	return states;
}

/** The test of a search filter: without `/` on the file's name, otherwise on the path below the searched folder. */
export function compileFilter(filter: string): (path: string) => boolean {
	const negated = filter.startsWith("!");
	const text = (negated ? filter.slice(1) : filter).replace(/^\//, "");
	const pattern = new GlobPattern(text.includes("/") ? text : `**/${text}`);
	const leaf = text.includes("/") ? undefined : new GlobPattern(text);
	return (path) => {
		const name = path.slice(path.lastIndexOf("/") + 1);
		return (leaf ? leaf.matches(name) : pattern.matches(path)) !== negated;
	};
}
