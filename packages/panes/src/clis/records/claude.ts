import { existsSync } from "node:fs";
import { join } from "node:path";
import { homeOf, parseObject, readAll } from "./files.ts";
import type { RecordReader } from "./record.ts";

/** Claude Code keeps a small status file per process while it runs and deletes it at its end. */
export const claudeRecord: RecordReader = {
	async find({ pids, env }) {
		const folder = join(env.CLAUDE_CONFIG_DIR || join(homeOf(env), ".claude"), "sessions");
		return pids.map((pid) => join(folder, `${pid}.json`)).find((path) => existsSync(path));
	},
	async read(source) {
		const status = parseObject(readAll(source))?.status;
		return status === "busy" || status === "idle" || status === "waiting" ? status : undefined;
	},
	async sessionId(source) {
		const id = parseObject(readAll(source))?.sessionId;
		return typeof id === "string" ? id : undefined;
	},
};
