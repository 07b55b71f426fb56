import { join } from "node:path";
import { homeOf, isSameFolder, listNewest, parseObject, readAll, readLastLines } from "./files.ts";
import type { RecordReader } from "./record.ts";

/**
 * Gemini CLI appends messages to a session file in a folder that its list of projects names, as seen in 0.61.0. A reply
 * without tool calls ends a turn; an interrupted turn leaves no sign, so after anything else only the file's rest tells.
 */
export const geminiRecord: RecordReader = {
	async find({ cwd, env }) {
		const folder = join(homeOf(env), ".gemini");
		const projects = parseObject(readAll(join(folder, "projects.json")))?.projects;
		const known = typeof projects === "object" && projects !== null ? Object.entries(projects) : [];
		const name = known.find(([path]) => isSameFolder(path, cwd))?.[1];
		if (typeof name !== "string") return undefined;
		return listNewest(join(folder, "tmp", name, "chats"), 0, /^session-.*\.jsonl$/, 1)[0];
	},
	async read(source) {
		for (const line of readLastLines(source)) {
			const entry = parseObject(line);
			if (entry?.type === undefined) continue;
			const calls = Array.isArray(entry.toolCalls) ? entry.toolCalls.length : 0;
			return entry.type === "gemini" && calls === 0 ? "idle" : undefined;
		}
		return undefined;
	},
};
