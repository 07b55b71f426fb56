import { join } from "node:path";
import { homeOf, listNewest, listOpenFiles, parseObject, readFirstLine, readLastLines } from "./files.ts";
import type { RecordReader } from "./record.ts";

/** pi appends messages to a session file in a folder that is named after the working directory. */
export const piRecord: RecordReader = {
	async find({ cwd, pids, env }) {
		const open = listOpenFiles(pids).find((path) => /\/sessions\/--.*\.jsonl$/.test(path));
		if (open !== undefined) return open;
		const agentFolder = env.PI_CODING_AGENT_DIR || join(homeOf(env), ".pi", "agent");
		const folder = join(agentFolder, "sessions", `--${cwd.replace(/^\//, "").replaceAll("/", "-")}--`);
		return listNewest(folder, 0, /\.jsonl$/, 1)[0];
	},
	async read(source) {
		for (const line of readLastLines(source)) {
			const message = parseObject(line)?.message as { role?: unknown; stopReason?: unknown } | undefined;
			if (message?.role === "user" || message?.role === "toolResult") return "busy";
			// A reply that ends in a tool call is followed by its result and another reply.
			if (message?.role === "assistant") return message.stopReason === "toolUse" ? "busy" : "idle";
		}
		return undefined;
	},
	async sessionId(source) {
		const id = parseObject(readFirstLine(source))?.id;
		return typeof id === "string" ? id : undefined;
	},
};
