import { resolve } from "node:path";
import { editDistance } from "../lib/edit-distance.ts";
import { type Environment, expandHome } from "../platform/paths.ts";
import { listSessions, readSession, type SessionFile } from "./session-files.ts";

/** No session, or more than one, answers to a selector; the message says what to do. */
class SessionSelectorError extends Error {
	override name = "SessionSelectorError";
	readonly code: "not_found" | "ambiguous";
	constructor(code: SessionSelectorError["code"], message: string) {
		super(message);
		this.code = code;
	}
}

/**
 * The session that a person means: a path, a whole id, or a beginning or end of an id that only one session has.
 * Sessions of `cwd` come before those of other folders. Hyphens and case do not count.
 * @throws {SessionSelectorError} when none or several match.
 */
export async function resolveSession(
	selector: string,
	folder: string,
	cwd: string,
	env: Environment,
): Promise<SessionFile> {
	if (/[/\\]|\.jsonl$/.test(selector)) {
		const session = await readSession(resolve(cwd, expandHome(selector, env)));
		if (session) return session;
		throw notFound(selector, undefined);
	}
	const all = await listSessions(folder);
	const local = all.filter(({ header }) => header.cwd !== undefined && resolve(header.cwd) === resolve(cwd));
	const wanted = normalize(selector);
	for (const isMatch of [isExact, isPart]) {
		for (const sessions of [local, all]) {
			const matches = wanted === "" ? [] : sessions.filter((session) => isMatch(normalize(session.header.id), wanted));
			if (matches.length === 1) return matches[0]!;
			if (matches.length > 1) throw ambiguous(selector, matches);
		}
	}
	throw notFound(selector, suggest(wanted, all));
}

function normalize(id: string): string {
	return id.replaceAll("-", "").toLowerCase();
}

function isExact(id: string, wanted: string): boolean {
	return id === wanted;
}

function isPart(id: string, wanted: string): boolean {
	return id.startsWith(wanted) || id.endsWith(wanted);
}

function notFound(selector: string, suggestion: string | undefined): SessionSelectorError {
	const hint = suggestion
		? `Did you mean '${suggestion}'?`
		: 'Give the path or the id of a saved session, or use "--continue" for the newest one of this folder.';
	return new SessionSelectorError("not_found", `No session found matching '${selector}'. ${hint}`);
}

function ambiguous(selector: string, matches: readonly SessionFile[]): SessionSelectorError {
	const list = matches
		.map((session) => `  ${session.header.id}  ${session.header.cwd ?? "(folder unknown)"}`)
		.join("\n");
	return new SessionSelectorError(
		"ambiguous",
		`'${selector}' matches ${matches.length} sessions. Give more of the id:\n${list}`,
	);
}

/** The id that differs least, if no other is as near and the difference is small enough to be a slip. */
function suggest(wanted: string, sessions: readonly SessionFile[]): string | undefined {
	if (wanted.length < 4) return undefined;
	const ranked = sessions
		.map(({ header: { id } }) => ({ id, distance: partDistance(wanted, normalize(id)) }))
		.sort((a, b) => a.distance - b.distance);
	const [best, next] = ranked;
	if (!best || best.distance > Math.max(1, Math.floor(wanted.length / 5))) return undefined;
	return next && next.distance === best.distance ? undefined : best.id;
}

/** How far the selector is from the id or from its beginning or end of the same length. */
function partDistance(wanted: string, id: string): number {
	const parts = [id, id.slice(0, wanted.length), id.slice(-wanted.length)];
	return Math.min(...parts.map((part) => editDistance(wanted, part)));
}
