import { realpathSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { errorText } from "../lib/text.ts";
import { readTextFile } from "../platform/text-file.ts";

/** A file of instructions, as text, and where it lies. */
export interface TextFile {
	readonly path: string;
	readonly text: string;
}

/** Files that were found, and what is wrong with those that could not be read. */
export interface FoundFiles {
	readonly files: readonly TextFile[];
	readonly warnings: readonly string[];
}

/** One file a folder, the first that is there. */
const NAMES = ["AGENTS.md", "CLAUDE.md"];

/** The instructions for work in `cwd`: the user's own, then those of each folder from the root down to `cwd`. */
export function findContextFiles(agentFolder: string, cwd: string): FoundFiles {
	const files: TextFile[] = [];
	const warnings: string[] = [];
	const seen = new Set<string>();
	for (const folder of [agentFolder, ...foldersDownTo(cwd)]) {
		for (const name of NAMES) {
			const read = readOnce(join(folder, name), seen, warnings);
			if (read === "missing") continue;
			if (read !== "skipped") files.push(read);
			break;
		}
	}
	return { files, warnings };
}

/** The text that replaces the system prompt (the project's, else the user's), and the texts that are put after it. */
export function findPromptFiles(
	agentFolder: string,
	cwd: string,
): { system: TextFile | undefined; append: readonly TextFile[]; warnings: readonly string[] } {
	const warnings: string[] = [];
	const seen = new Set<string>();
	const read = (folder: string, name: string): TextFile | undefined => {
		const file = readOnce(join(folder, name), seen, warnings);
		return typeof file === "string" ? undefined : file;
	};
	const project = join(cwd, ".prime", "agent");
	const system = read(project, "SYSTEM.md") ?? read(agentFolder, "SYSTEM.md");
	const append = [read(agentFolder, "APPEND_SYSTEM.md"), read(project, "APPEND_SYSTEM.md")];
	return { system, append: append.filter((file) => file !== undefined), warnings };
}

function foldersDownTo(cwd: string): string[] {
	const folders = [resolve(cwd)];
	for (let parent = dirname(folders[0]!); parent !== folders[0]; parent = dirname(parent)) folders.unshift(parent);
	return folders;
}

function readOnce(path: string, seen: Set<string>, warnings: string[]): TextFile | "missing" | "skipped" {
	try {
		const real = realpathSync(path);
		if (seen.has(real)) return "skipped";
		const text = readTextFile(real);
		seen.add(real);
		return { path, text };
	} catch (error) {
		const code = (error as NodeJS.ErrnoException).code;
		if (code === "ENOENT" || code === "ENOTDIR") return "missing";
		warnings.push(`${path} is not used: ${errorText(error)}`);
		return "skipped";
	}
}
