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

function escapeLiteral(text: string): string {
	return text.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
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

/** One path segment as the source of a regular expression. */
function segmentSource(segment: string, pattern: string): string {
	let source = "";
	for (let at = 0; at < segment.length; at++) {
		const character = segment[at]!;
		if (character === "*") source += "[^/]*";
		else if (character === "?") source += "[^/]";
		else if (character === "\\" && at + 1 < segment.length) source += escapeLiteral(segment[++at]!);
		else if (character === "[") {
			const bracket = bracketSource(segment, at);
			if (!bracket) throw new EnvironmentError("bad_pattern", `The pattern ${pattern} has a [ without its ].`);
			source += bracket.source;
			at = bracket.end;
		} else source += escapeLiteral(character);
	}
	// A leading dot has to be written out: wildcards do not reach hidden entries.
	return /^\\?\./.test(segment) ? source : `(?!\\.)${source}`;
}

interface Alternative {
	segments: (RegExp | "**")[];
	names: string[];
}

function compileAlternative(pattern: string): Alternative {
	const written = pattern.split("/").filter((segment) => segment !== "" && segment !== ".");
	const names = written.filter((segment, at) => segment !== "**" || written[at - 1] !== "**");
	const segments = names.map((segment) =>
		segment === "**" ? ("**" as const) : new RegExp(`^${segmentSource(segment, pattern)}$`, "su"),
	);
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
		return this.#alternatives.some(({ segments }) => matchParts(segments, 0, parts, 0, false));
	}

	/** Whether a file below the folder `path` could match. */
	canMatchBelow(path: string): boolean {
		const parts = path === "" ? [] : path.split("/");
		return this.#alternatives.some(({ segments }) => matchParts(segments, 0, parts, 0, true));
	}
}

function matchParts(
	segments: (RegExp | "**")[],
	segment: number,
	parts: string[],
	part: number,
	prefix: boolean,
): boolean {
	if (part === parts.length) {
		if (prefix) return segment < segments.length;
		return segments.slice(segment).every((one) => one === "**");
	}
	const current = segments[segment];
	if (current === undefined) return false;
	if (current !== "**") return current.test(parts[part]!) && matchParts(segments, segment + 1, parts, part + 1, prefix);
	return (
		matchParts(segments, segment + 1, parts, part, prefix) ||
		(!parts[part]!.startsWith(".") && matchParts(segments, segment, parts, part + 1, prefix))
	);
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
