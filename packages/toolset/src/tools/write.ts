import type { ExecutionEnvironment } from "../environment/environment.ts";
import { type PathLocks, shortenPath } from "./paths.ts";
import { type CodingTool, defineTool, describePath } from "./tool.ts";

/** The tool that writes a whole file. */
export function createWriteTool(environment: ExecutionEnvironment, locks: PathLocks): CodingTool {
	return defineTool<{ file_path: string; content: string }>({
		name: "write_file",
		label: "write",
		toolClass: "write",
		description:
			"Writes a whole file, creating parent folders and replacing what was there. To change a part of a file, edit it instead.",
		properties: {
			file_path: { type: "string", description: "Absolute path of the file." },
			content: { type: "string", description: "The whole new content." },
		},
		required: ["file_path", "content"],
		describeCall: ({ file_path }) => describePath(environment, file_path),
		async run({ file_path, content }, { signal }) {
			const path = await environment.resolvePath(file_path);
			const bytes = Buffer.from(content, "utf8");
			return locks.hold([path], async () => {
				signal.throwIfAborted();
				await environment.writeFile(path, bytes);
				return { text: `Wrote ${bytes.length} bytes to ${await shortenPath(environment, path)}.` };
			});
		},
	});
}
