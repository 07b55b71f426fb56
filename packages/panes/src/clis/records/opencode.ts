import { ignore } from "../../ignore.ts";
import type { RecordReader } from "./record.ts";

const LIMIT_MS = 2000;

/** OpenCode serves its state on the port that it was started with; without `--port` there is no address to ask. */
export const opencodeRecord: RecordReader = {
	async find({ cmdlines }) {
		for (const line of cmdlines) {
			const port = /(?:^| )--port[ =](\d+)(?: |$)/.exec(line)?.[1];
			if (port !== undefined && port !== "0") return `http://127.0.0.1:${port}`;
		}
		return undefined;
	},
	async read(source) {
		try {
			const reply = await fetch(`${source}/session/status`, { signal: AbortSignal.timeout(LIMIT_MS) });
			if (!reply.ok) return undefined;
			const states = (await reply.json()) as Record<string, { type?: unknown }>;
			return Object.values(states).some((state) => state.type !== "idle") ? "busy" : "idle";
		} catch (error) {
			return ignore(error, "a server that does not answer says nothing about the turn");
		}
	},
};
