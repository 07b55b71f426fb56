import type { ExecutionEnvironment } from "../environment/environment.ts";
import { editText } from "./edit-text.ts";
import { type PathLocks, shortenPath } from "./paths.ts";
import { toBytes, toRaw } from "./raw-text.ts";
import { type CodingTool, defineTool, describePath, ToolFailure } from "./tool.ts";

/** The tool that replaces a piece of a file. */
export function createEditTool(environment: ExecutionEnvironment, locks: PathLocks): CodingTool {
	return defineTool<{ file_path: string; old_string: string; new_string: string; replace_all?: boolean }>({
		name: "edit_file",
		label: "edit",
		toolClass: "write",
		description:
			"Replaces a piece of text in a file. old_string has to be exactly as in the file, without the line numbers that read_file shows, and has to occur once; give more of the surrounding lines where it does not, or set replace_all. Read the file first. Everything else in the file stays byte for byte.",
		properties: {
			file_path: { type: "string", description: "Absolute path of the file." },
			old_string: { type: "string", description: "The text to replace." },
			new_string: { type: "string", description: "The text to put in its place, taken literally." },
			replace_all: { type: "boolean", description: "Replace every occurrence. Default: false." },
		},
		required: ["file_path", "old_string", "new_string"],
		describeCall: ({ file_path }) => describePath(environment, file_path),
		async run(args, { signal }) {
			if (args.old_string === "") {
				throw new ToolFailure("old_string is empty. Give the text to replace, or use write_file for a new file.");
			}
			if (args.old_string === args.new_string) throw new ToolFailure("old_string and new_string are the same.");
			const path = await environment.resolvePath(args.file_path);
			return locks.hold([path], async () => {
				const raw = toRaw(await environment.readFile(path, signal));
				const outcome = editText(raw, { old: args.old_string, new: args.new_string, all: args.replace_all ?? false });
				if (outcome.kind === "not_found") {
					throw new ToolFailure(
						`old_string was not found in ${args.file_path}. Read the file and copy the text exactly, without line numbers.`,
					);
				}
				if (outcome.kind === "not_unique") {
					const places = outcome.lines.slice(0, 20).join(", ");
					throw new ToolFailure(
						`old_string occurs ${outcome.count} times in ${args.file_path} (at lines ${places}), so it is not unique. Give more surrounding lines, or set replace_all.`,
					);
				}
				signal.throwIfAborted();
				if (outcome.raw !== raw) await environment.writeFile(path, toBytes(outcome.raw));
				const times = `${outcome.count} replacement${outcome.count === 1 ? "" : "s"}`;
				const note = outcome.fuzzy
					? " No exact match was there; a fuzzy match was used (white space or typographic characters differ). Check the result."
					: "";
				return { text: `Made ${times} in ${await shortenPath(environment, path)}.${note}` };
			});
		},
	});
}
