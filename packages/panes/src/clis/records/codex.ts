import { join } from "node:path";
import { homeOf, isSameFolder, listNewest, listOpenFiles, parseObject, readFirstLine, readLastLines } from "./files.ts";
import type { RecordReader, RecordWord } from "./record.ts";

const ROLLOUT = /^rollout-.*\.jsonl$/;
const SCANNED = 40;

const WORDS: Readonly<Record<string, RecordWord>> = {
	task_started: "busy",
	turn_started: "busy",
	task_complete: "idle",
	turn_complete: "idle",
	turn_aborted: "idle",
};

/** Codex appends every turn to a rollout file, which it makes at the first prompt and not at the start. */
export const codexRecord: RecordReader = {
	async find({ cwd, pids, env }) {
		const folder = join(env.CODEX_HOME || join(homeOf(env), ".codex"), "sessions");
		const open = listOpenFiles(pids).find((path) => /\/rollout-[^/]*\.jsonl$/.test(path));
		if (open !== undefined) return open;
		const newest = listNewest(folder, 3, ROLLOUT, SCANNED);
		return newest.find((path) => {
			const folderOfSession = readMeta(path)?.cwd;
			return typeof folderOfSession === "string" && isSameFolder(folderOfSession, cwd);
		});
	},
	async read(source) {
		for (const line of readLastLines(source)) {
			const payload = parseObject(line)?.payload;
			const type = typeof payload === "object" && payload !== null ? (payload as { type?: unknown }).type : undefined;
			const word = typeof type === "string" ? WORDS[type] : undefined;
			if (word !== undefined) return word;
		}
		return undefined;
	},
	async sessionId(source) {
		const id = readMeta(source)?.id;
		return typeof id === "string" ? id : undefined;
	},
};

function readMeta(path: string): { cwd?: unknown; id?: unknown } | undefined {
	const first = parseObject(readFirstLine(path));
	const payload = first?.payload;
	return typeof payload === "object" && payload !== null ? (payload as { cwd?: unknown; id?: unknown }) : first;
}
