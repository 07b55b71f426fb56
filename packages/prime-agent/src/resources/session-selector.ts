import type { Stats } from "node:fs";
import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { editDistance } from "../lib/edit-distance.ts";
import { ignore } from "../lib/ignore.ts";
import { type Environment, expandHome } from "../platform/paths.ts";
import { listSessions, readSession, type SessionFile } from "./session-files.ts";

const USE = 'Give the path or the id of a saved session, or use "--continue" for the newest one of this folder.';

/** No session, or more than one, answers to a selector; the message says what to do. */
class SessionSelectorError extends Error {
	override name = "SessionSelectorError";
	readonly code: "not_found" | "no_session" | "ambiguous";
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
		const path = resolve(cwd, expandHome(selector, env));
		const session = await readSession(path);
		if (session) return session;
		throw (await findNoSession(path)) ?? notFound(selector, undefined);
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
	const path = resolve(cwd, selector);
	const other = (await readSession(path)) === undefined ? await findNoSession(path) : undefined;
	throw other ?? notFound(selector, suggest(wanted, all));
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
	const hint = suggestion ? `Did you mean '${suggestion}'?` : USE;
	return new SessionSelectorError("not_found", `No session found matching '${selector}'. ${hint}`);
}

/** The error for a path at which something lies that is no session; undefined where nothing does. */
async function findNoSession(path: string): Promise<SessionSelectorError | undefined> {
	let found: Stats;
	try {
		found = await stat(path);
	} catch (error) {
		ignore(error, "nothing is there");
		return undefined;
	}
	return new SessionSelectorError(
		"no_session",
		`${path} is there, but it is no session: ${describeKind(found)}. ${USE}`,
	);
}

function describeKind(found: Stats): string {
	if (found.isDirectory()) return "it is a folder";
	if (!found.isFile()) return "it is no regular file";
	return found.size === 0 ? "it is empty" : "it does not begin with the lines of one";
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
