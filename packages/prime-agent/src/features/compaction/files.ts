import type { AgentMessage, AgentToolCall } from "@prime-agent/loop";

/** Files that a session has read and changed, as the calls name them; a changed file is not listed as read. */
export interface FileList {
	readonly readFiles: readonly string[];
	readonly modifiedFiles: readonly string[];
}

/** Newest names that are kept, so that a long session does not carry its whole history. */
const MOST_FILES = 300;

const WRITING_TOOLS: ReadonlySet<string> = new Set(["write", "edit", "apply_patch"]);
const READING_TOOLS: ReadonlySet<string> = new Set(["read"]);

const QUOTED = String.raw`[rbuf]{0,2}["']([^"'\n]+)["']`;
const WORD = String.raw`["']?([\w./~@+-]*[\w/~@+-])["']?(?=\s|$|[;&|)])`;

const all = (...patterns: readonly string[]) => patterns.map((pattern) => new RegExp(pattern, "gm"));

/** How Python code says which files it reads and changes; literal names only. */
const PYTHON = {
	reads: all(
		String.raw`\bopen\(\s*${QUOTED}\s*(?:\)|,\s*(?:mode\s*=\s*)?["']rb?["']|,\s*encoding)`,
		String.raw`\bPath\(\s*${QUOTED}\s*\)\.(?:read_text|read_bytes|open)\(`,
	),
	writes: all(
		String.raw`^%%(?:writefile|file)[ \t]+(?:-a[ \t]+)?(\S+)`,
		String.raw`\bopen\(\s*${QUOTED}\s*,\s*(?:mode\s*=\s*)?["'][^"']*[wax+][^"']*["']`,
		String.raw`\bPath\(\s*${QUOTED}\s*\)\.(?:write_text|write_bytes|touch|unlink)\(`,
	),
};
/** How shell code says it. */
const SHELL = {
	reads: all(
		String.raw`\b(?:cat|head|tail|less|nl)[ \t]+(?:-[\w=-]+[ \t]+(?:\d+[ \t]+)?)*${WORD}`,
		String.raw`\bsed[ \t]+-n[ \t]+(?:'[^'\n]*'|"[^"\n]*"|\S+)[ \t]+${WORD}`,
	),
	writes: all(
		String.raw`(?<![<>&\d=-])>{1,2}[ \t]*${WORD}`,
		String.raw`\btee[ \t]+(?:-a[ \t]+)?${WORD}`,
		String.raw`\bsed[ \t]+-i\S*[ \t]+(?:-e[ \t]+)?(?:'[^'\n]*'|"[^"\n]*")[ \t]+${WORD}`,
	),
};
/** Where a cell is shell code: from `%%bash` on, or a line that begins with `!`. */
const SHELL_CODE = /^%%(?:bash|sh)\b[\s\S]*|^[ \t]*(?:\w+[ \t]*=[ \t]*)?![^\n]*/gm;
/** Names that are no files worth remembering: devices, and numbers of comparisons. */
const NO_FILE = /^\/dev\/|^[\d.]+$/;

/** Adds what the calls of these messages read and changed to what is known from before. */
export function collectFiles(known: FileList, messages: readonly AgentMessage[]): FileList {
	const read = new Set(known.readFiles);
	const modified = new Set(known.modifiedFiles);
	for (const message of messages) {
		if (message.role !== "assistant") continue;
		for (const block of message.content) {
			if (block.type !== "toolCall") continue;
			const files = filesOf(block);
			for (const path of files.readFiles) renew(read, path);
			for (const path of files.modifiedFiles) renew(modified, path);
		}
	}
	for (const path of modified) read.delete(path);
	return { readFiles: [...read].slice(-MOST_FILES), modifiedFiles: [...modified].slice(-MOST_FILES) };
}

/** The list that a compaction entry carries; entries of other programs may carry anything. */
export function readFileList(details: unknown): FileList {
	const { readFiles, modifiedFiles } = (details ?? {}) as Record<string, unknown>;
	const names = (list: unknown) =>
		Array.isArray(list) ? list.filter((name): name is string => typeof name === "string") : [];
	return { readFiles: names(readFiles), modifiedFiles: names(modifiedFiles) };
}

/** Moves a name to the newest end. */
function renew(names: Set<string>, name: string): void {
	names.delete(name);
	names.add(name);
}

function filesOf({ name, arguments: args }: AgentToolCall): FileList {
	const path = args.path ?? args.file_path;
	if (typeof path === "string") {
		return {
			readFiles: READING_TOOLS.has(name) ? [path] : [],
			modifiedFiles: WRITING_TOOLS.has(name) ? [path] : [],
		};
	}
	return typeof args.code === "string" ? filesOfCode(args.code) : { readFiles: [], modifiedFiles: [] };
}

function filesOfCode(code: string): FileList {
	const shell = (code.match(SHELL_CODE) ?? []).join("\n");
	const python = code.replaceAll(SHELL_CODE, "");
	return {
		readFiles: [...findNames(python, PYTHON.reads), ...findNames(shell, SHELL.reads)],
		modifiedFiles: [...findNames(python, PYTHON.writes), ...findNames(shell, SHELL.writes)],
	};
}

function findNames(code: string, patterns: readonly RegExp[]): string[] {
	const names = patterns.flatMap((pattern) => [...code.matchAll(pattern)].map(([, name]) => name!));
	return names.filter((name) => !NO_FILE.test(name));
}
