import type { ExecutionEnvironment, GrepRequest, GrepRow } from "../environment/environment.ts";
import { makeShortener } from "./paths.ts";
import { type CodingTool, defineTool, describePath, ToolFailure } from "./tool.ts";

interface GrepArguments {
	pattern: string;
	path?: string;
	glob_filter?: string;
	case_insensitive?: boolean;
	max_results?: number;
	output_mode?: "content" | "files_with_matches" | "count";
}

const defaultResults = 100;

const modes: Record<NonNullable<GrepArguments["output_mode"]>, GrepRequest["mode"]> = {
	content: "lines",
	files_with_matches: "files",
	count: "counts",
};

function showRow(path: string, row: GrepRow): string {
	if (row.count !== undefined) return `${path}:${row.count}`;
	return row.line === undefined ? path : `${path}:${row.line}:${row.text ?? ""}`;
}

/** A search of a whole disk, or of files that never end, is given up after this. */
const searchLimitMs = 120_000;

/** Ends a search that takes too long, with words for the model. */
async function searchInTime<Found>(
	limitMs: number,
	signal: AbortSignal,
	search: (signal: AbortSignal) => Promise<Found>,
): Promise<Found> {
	const limit = new AbortController();
	const timer = setTimeout(() => limit.abort(), limitMs);
	try {
		return await search(AbortSignal.any([signal, limit.signal]));
	} catch (error) {
		if (!limit.signal.aborted || signal.aborted) throw error;
		throw new ToolFailure(
			`The search took more than ${limitMs / 1000} s and was stopped. Search a smaller folder.`,
			error,
		);
	} finally {
		clearTimeout(timer);
	}
}

/** The tool that searches in files; `withModes` adds the choice between lines, file names and counts. */
export function createGrepTool(
	environment: ExecutionEnvironment,
	withModes: boolean,
	limitMs = searchLimitMs,
): CodingTool {
	return defineTool<GrepArguments>({
		name: "grep",
		label: "grep",
		toolClass: "read",
		description:
			"Searches files for a regular expression and shows path:line:text. Leaves out hidden files, binary files, node_modules and what .gitignore names.",
		properties: {
			pattern: { type: "string", description: "A regular expression." },
			path: { type: "string", description: "A file or folder. Default: the working directory." },
			glob_filter: { type: "string", description: "Only files that match, for instance *.ts or src/**/*.py." },
			case_insensitive: { type: "boolean", description: "Default: false." },
			max_results: { type: "integer", description: `Most lines to show over all files. Default: ${defaultResults}.` },
			...(withModes
				? {
						output_mode: {
							type: "string",
							enum: Object.keys(modes),
							description: "Matching lines, names of files with matches, or matching lines per file. Default: content.",
						},
					}
				: {}),
		},
		required: ["pattern"],
		describeCall: ({ pattern }) => (typeof pattern === "string" ? pattern : ""),
		async run(args, { signal }) {
			const maxResults = args.max_results !== undefined && args.max_results >= 1 ? args.max_results : defaultResults;
			const request: GrepRequest = {
				pattern: args.pattern,
				path: await environment.resolvePath(args.path ?? "."),
				globFilter: args.glob_filter,
				ignoreCase: args.case_insensitive ?? false,
				mode: modes[args.output_mode ?? "content"],
				maxResults: Math.floor(maxResults),
			};
			const { rows, capped } = await searchInTime(limitMs, signal, (stop) =>
				environment.grep({ ...request, signal: stop }),
			);
			if (rows.length === 0) return { text: `No matches for ${args.pattern}.` };
			const shorten = await makeShortener(environment);
			const lines = rows.map((row) => showRow(shorten(row.path), row));
			if (capped)
				lines.push(`[more matches were left out after ${rows.length}; narrow the search or raise max_results]`);
			return { text: lines.join("\n") };
		},
	});
}

/** The tool that finds files by name. */
export function createGlobTool(environment: ExecutionEnvironment, limitMs = searchLimitMs): CodingTool {
	return defineTool<{ pattern: string; path?: string }>({
		name: "glob",
		label: "glob",
		toolClass: "read",
		description:
			"Finds files by a name pattern with **, *, ?, [] and {}, newest first. Leaves out .git, node_modules and hidden files unless the pattern names them.",
		properties: {
			pattern: { type: "string", description: "For instance **/*.ts." },
			path: { type: "string", description: "The folder to search. Default: the working directory." },
		},
		required: ["pattern"],
		describeCall: ({ pattern }) => (typeof pattern === "string" ? pattern : ""),
		async run({ pattern, path }, { signal }) {
			const base = await environment.resolvePath(path ?? ".");
			const status = await environment.stat(base);
			if (!status) throw new ToolFailure(`${path}: not found`);
			if (status.kind !== "directory") throw new ToolFailure(`${path}: is not a directory`);
			const found = await searchInTime(limitMs, signal, (stop) =>
				environment.glob({ pattern, path: base, signal: stop }),
			);
			if (found.length === 0) return { text: `No files match ${pattern}.` };
			return { text: found.map(await makeShortener(environment)).join("\n") };
		},
	});
}

/** The tool that lists a folder. */
export function createListTool(environment: ExecutionEnvironment): CodingTool {
	return defineTool<{ path: string; depth?: number }>({
		name: "list_dir",
		label: "list",
		toolClass: "read",
		description: "Lists a folder; folders end with /.",
		properties: {
			path: { type: "string", description: "Absolute path of the folder." },
			depth: { type: "integer", description: "How many levels to show. Default: 1." },
		},
		required: ["path"],
		describeCall: ({ path }) => describePath(environment, path),
		async run({ path, depth }, { signal }) {
			const levels = depth !== undefined && depth >= 1 ? Math.floor(depth) : 1;
			const entries = await searchInTime(searchLimitMs, signal, (stop) =>
				environment.listDirectory(path, levels, stop),
			);
			if (entries.length === 0) return { text: `[${path} is empty]` };
			return { text: entries.map((entry) => (entry.kind === "directory" ? `${entry.path}/` : entry.path)).join("\n") };
		},
	});
}
