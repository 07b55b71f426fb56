import { readdir, stat } from "node:fs/promises";
import { basename, isAbsolute, join, relative, sep } from "node:path";
import {
	abortError,
	EnvironmentError,
	type GlobRequest,
	type GrepRequest,
	type GrepResult,
	type GrepRow,
} from "./environment.ts";
import { compareText, fileError, readStatus } from "./files.ts";
import { findRepository } from "./ignore-rules.ts";
import { compileFilter, GlobPattern } from "./pattern.ts";
import { searchWithRipgrep } from "./ripgrep.ts";
import { searchText } from "./text-search.ts";

const lineLimit = 2000;

function shortenText(row: GrepRow): GrepRow {
	if (row.text === undefined) return row;
	const text = row.text.endsWith("\r") ? row.text.slice(0, -1) : row.text;
	return { ...row, text: text.length > lineLimit ? `${text.slice(0, lineLimit)} [... line cut]` : text };
}

function toPosix(path: string): string {
	return path.split(sep).join("/");
}

/** Searches with ripgrep where `program` names it, otherwise with the built-in search. */
export async function searchContents(request: GrepRequest, program: string | undefined): Promise<GrepResult> {
	const status = await readStatus(request.path);
	if (!status) throw new EnvironmentError("not_found", `${request.path}: not found`);
	if (status.kind === "other") throw new EnvironmentError("failed", `${request.path}: is not a regular file`);
	const isFile = status.kind === "file";
	const filter = request.globFilter === undefined ? undefined : compileFilter(request.globFilter);
	const rows: GrepRow[] = [];
	const source =
		program === undefined
			? searchText(request, isFile)
			: searchWithRipgrep(program, request, (await findRepository(request.path)) !== undefined);
	for await (const row of source) {
		const name = isFile ? basename(row.path) : toPosix(relative(request.path, row.path));
		if (filter && !filter(name)) continue;
		if (rows.length >= request.maxResults) return { rows, capped: true };
		rows.push(shortenText(row));
	}
	return { rows, capped: false };
}

/** The fixed folder in front of the first wildcard, and the rest of the pattern. */
function splitPattern(pattern: string): { base: string; rest: string } {
	const parts = pattern.split("/");
	const first = parts.findIndex((part) => /[*?[\]{}\\]/.test(part));
	const fixed = Math.min(first < 0 ? parts.length - 1 : first, parts.length - 1);
	return { base: parts.slice(0, fixed).join("/"), rest: parts.slice(fixed).join("/") };
}

const skippedFolders = [".git", "node_modules"];

/** Files whose path matches, newest first. */
export async function findFiles(request: GlobRequest): Promise<string[]> {
	const { base, rest } = splitPattern(request.pattern);
	const top = isAbsolute(request.pattern) ? base || "/" : join(request.path, base);
	const pattern = new GlobPattern(rest);
	if ((await readStatus(request.path))?.kind !== "directory") {
		throw new EnvironmentError("not_directory", `${request.path}: is not a directory`);
	}
	const found: { path: string; modifiedAt: number }[] = [];
	const visit = async (folder: string): Promise<void> => {
		if (request.signal?.aborted) throw abortError();
		for (const entry of await readdir(folder, { withFileTypes: true })) {
			const path = join(folder, entry.name);
			const name = toPosix(relative(top, path));
			if (entry.isDirectory()) {
				if (skippedFolders.includes(entry.name) && !pattern.names(entry.name)) continue;
				if (pattern.canMatchBelow(name)) await visit(path).catch(ignoreUnreadable);
			} else if (pattern.matches(name)) {
				const status = await stat(path).catch(() => undefined);
				if (status?.isFile()) found.push({ path, modifiedAt: status.mtimeMs });
			}
		}
	};
	if ((await readStatus(top))?.kind !== "directory") return [];
	await visit(top).catch((error: unknown) => {
		throw fileError(error, top);
	});
	return found.sort((a, b) => b.modifiedAt - a.modifiedAt || compareText(a.path, b.path)).map((one) => one.path);
}

/** A folder below the start that may not be read, or has just gone, hides its files and nothing else. */
function ignoreUnreadable(error: unknown): void {
	const code = (error as NodeJS.ErrnoException).code;
	if (code !== "EACCES" && code !== "EPERM" && code !== "ENOENT") throw error;
}
