import { readFile, stat } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";
import ignore, { type Ignore } from "ignore";

interface RuleFile {
	folder: string;
	rules: Ignore;
}

/** The `.gitignore` rules that hold in one folder. */
export interface IgnoreRules {
	/** Of the folder and those above it, the nearest last. */
	files: readonly RuleFile[];
	/** Rules end at the root of a repository; outside of repositories they reach up to the top. */
	inRepository: boolean;
}

async function readRuleFile(folder: string): Promise<RuleFile | undefined> {
	try {
		const path = join(folder, ".gitignore");
		// To read a pipe may never end.
		if (!(await stat(path)).isFile()) return undefined;
		return { folder, rules: ignore({ ignorecase: false }).add(await readFile(path, "utf8")) };
	} catch {
		// No rules are read where no readable file is, which is the usual case.
		return undefined;
	}
}

async function isRepositoryRoot(folder: string): Promise<boolean> {
	return stat(join(folder, ".git")).then(
		() => true,
		() => false,
	);
}

/** The nearest folder at or above `folder` that is the root of a Git repository. */
export async function findRepository(folder: string): Promise<string | undefined> {
	for (let current = folder; ; current = dirname(current)) {
		if (await isRepositoryRoot(current)) return current;
		if (dirname(current) === current) return undefined;
	}
}

/** The rules for a search that starts in `folder`. */
export async function collectRules(folder: string): Promise<IgnoreRules> {
	const root = await findRepository(folder);
	const files: RuleFile[] = [];
	for (let current = folder; ; current = dirname(current)) {
		const own = await readRuleFile(current);
		// A rule that ignores the start folder itself does not apply: the search was asked for there.
		if (own && (current === folder || !own.rules.ignores(`${toPosix(relative(current, folder))}/`))) files.unshift(own);
		if (current === root || dirname(current) === current) return { files, inRepository: root !== undefined };
	}
}

/** The rules for `folder`, which lies directly in a folder that `rules` are for. */
export async function addRules(rules: IgnoreRules, folder: string): Promise<IgnoreRules> {
	const own = await readRuleFile(folder);
	const outer = rules.inRepository && (await isRepositoryRoot(folder)) ? [] : rules.files;
	return own || outer !== rules.files ? { ...rules, files: own ? [...outer, own] : outer } : rules;
}

/** Whether the entry at the absolute `path` is ignored; the nearest file with an opinion decides. */
export function isIgnored(rules: IgnoreRules, path: string, isFolder: boolean): boolean {
	for (const { folder, rules: own } of rules.files.toReversed()) {
		const { ignored, unignored } = own.test(toPosix(relative(folder, path)) + (isFolder ? "/" : ""));
		if (ignored) return true;
		if (unignored) return false;
	}
	return false;
}

function toPosix(path: string): string {
	return path.split(sep).join("/");
}
