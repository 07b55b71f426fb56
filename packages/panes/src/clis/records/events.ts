import { listOpenFiles, parseObject, readLastLines } from "./files.ts";
import type { RecordReader, RecordWord } from "./record.ts";

/** A log of events that the process keeps open; without the open file its owner cannot be told, so there is none. */
function eventLog(path: RegExp, words: Readonly<Record<string, RecordWord>>): RecordReader {
	return {
		async find({ pids }) {
			return listOpenFiles(pids).find((file) => path.test(file));
		},
		async read(source) {
			for (const line of readLastLines(source)) {
				const type = parseObject(line)?.type;
				const word = typeof type === "string" ? words[type] : undefined;
				if (word !== undefined) return word;
			}
			return undefined;
		},
	};
}

/** Kimi Code's log of one session. */
export const kimiRecord = eventLog(/\/\.kimi-code\/sessions\/.*\/wire\.jsonl$/, {
	"turn.started": "busy",
	"turn.ended": "idle",
	"prompt.completed": "idle",
	"prompt.aborted": "idle",
	"interaction.request": "waiting",
});

/** Copilot CLI's log of one session. */
export const copilotRecord = eventLog(/\/session-state\/[^/]+\/events\.jsonl$/, {
	"assistant.turn_start": "busy",
	"assistant.turn_end": "idle",
	"permission.requested": "waiting",
	"permission.completed": "busy",
	abort: "idle",
});
