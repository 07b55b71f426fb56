import { execFileSync } from "node:child_process";
import { existsSync, globSync, lstatSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

/** The clone's folder. */
export const root = resolve(import.meta.dirname, "../..");

/** A Markdown file of the repository. */
export interface Document {
	path: string;
	text: string;
}

/** Every file, symbolic links excepted, that git knows or would take, and that is there. */
export function listFiles(): string[] {
	const listed = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
		cwd: root,
		encoding: "utf8",
		maxBuffer: 1 << 26,
	});
	return listed
		.split("\0")
		.filter((path) => path !== "" && existsSync(join(root, path)) && !lstatSync(join(root, path)).isSymbolicLink());
}

/** The documents that people and agents read: those of the root and of docs. */
export function listDocuments(): Document[] {
	const paths = listFiles().filter((path) => /^([^/]+|docs\/.+)\.md$/.test(path));
	return paths.map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }));
}

/** The document without its code blocks and without what stands under a heading "Planned". */
export function readProse(text: string): string {
	const kept: string[] = [];
	let plannedAt = 0;
	let isCode = false;
	for (const line of text.split("\n")) {
		const isFence = /^\s*```/.test(line);
		if (isFence) isCode = !isCode;
		const level = isCode ? undefined : /^(#+) /.exec(line)?.[1]?.length;
		if (level !== undefined && (plannedAt === 0 || level <= plannedAt))
			plannedAt = /^#+ Planned/.test(line) ? level : 0;
		if (!isCode && !isFence && plannedAt === 0) kept.push(line);
	}
	return kept.join("\n");
}

/** The paths that a text names in back-ticks: with a slash and an ending, or from a top folder of the repository; no patterns. */
export function findPaths(text: string): string[] {
	const quoted = [...text.matchAll(/`([^`\n]+)`/g)].map((match) => match[1] ?? "");
	const tops = new Set(listFiles().map((path) => path.split("/")[0]));
	return quoted.filter((quote) => {
		if (!/^[\w@.{},/-]+$/.test(quote) || /^(\/|\.\.|\.prime|@)/.test(quote) || /NNNN|(^|\/)dist(\/|$)/.test(quote))
			return false;
		const path = quote.replace(/^\.\//, "");
		if (!path.includes("/"))
			return /\.(ts|cjs|md|sh|json)$/.test(path) && /^([A-Z]+\.md|[a-z-]+\.sh|package.*\.json)$/.test(path);
		return tops.has(path.split("/")[0] ?? "") || /\.(ts|cjs|md|sh|py)$/.test(path);
	});
}

/** Whether a path, in which `{a,b}` stands for several, names something from the root or from a source folder. */
export function isPresent(path: string): boolean {
	const bases = [".", "packages", "packages/prime-agent/src", ...globSync("packages/*/src", { cwd: root })];
	return bases.some((base) => globSync(join(base, path), { cwd: root }).length > 0);
}

/** The lines of the `sh` blocks of a document that are commands, continued lines joined. */
export function findCommands(text: string): string[] {
	const blocks = [...text.matchAll(/^```sh\n([\s\S]*?)^```/gm)].map((match) => match[1] ?? "");
	const lines = blocks.flatMap((block) => block.replaceAll(/\\\n\s*/g, "").split("\n"));
	return lines.map((line) => line.replace(/\s+#.*$/, "").trim()).filter((line) => line !== "" && !line.startsWith("#"));
}
