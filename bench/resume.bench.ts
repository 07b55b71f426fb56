import { copyFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { startModelServer } from "./first-request.ts";
import { type Figure, type Program, runProgram, timeProgram, weighProgram } from "./measure.ts";

// What it costs to go on with a long session, against `node -e 0`: 100,000 short messages, with and without a compaction.

const MESSAGES = 100_000;
const AFTER_COMPACTION = 200;

const root = resolve(import.meta.dirname, "..");
const node = process.execPath;
const server = await startModelServer();
const { env, folder } = server;
const nothing: Program = { file: node, args: ["-e", "0"], env, cwd: folder };
const main = join(root, "packages/prime-agent/dist/main.js");
const compacted = writeSession("compacted.jsonl", { compactAt: MESSAGES - AFTER_COMPACTION });
const whole = writeSession("whole.jsonl", {});

/** What `bench/run.ts` measures. */
export const figures: Figure[] = [
	timeFigure("resume 100k entries, 200 after compaction", compacted, "bench", 6),
	timeFigure("resume 100k messages, all sent", whole, "wide", 28),
	weightFigure("memory of the first", compacted, "bench", 6),
	weightFigure("memory of the second", whole, "wide", undefined),
];

/** Ends the server and removes its folder. */
export const close = server.close;

function timeFigure(name: string, session: string, model: string, limit: number): Figure {
	return {
		name: `${name}, start to first request`,
		unit: "ms",
		limit,
		floorName: "node -e 0",
		floor: () => timeProgram(nothing),
		subject: async () => {
			const program = resume(session, model);
			const started = performance.now();
			await runProgram(program);
			const request = server.lastRequest();
			if (request === undefined || request < started) throw new Error(`${name}: ended without a request`);
			return request - started;
		},
		unavailable: () => Promise.resolve(undefined),
	};
}

function weightFigure(name: string, session: string, model: string, limit: number | undefined): Figure {
	return {
		name,
		unit: "MB",
		...(limit === undefined ? {} : { limit }),
		floorName: "node -e 0",
		floor: () => weighProgram(nothing),
		subject: () => weighProgram(resume(session, model)),
		unavailable: () => Promise.resolve(undefined),
	};
}

/** A fresh copy each time: the run adds to it. */
function resume(session: string, model: string): Program {
	const file = join(folder, "copy.jsonl");
	copyFileSync(session, file);
	return { file: node, args: [main, "-p", "--model", `bench/${model}`, "--resume", file, "hi"], env, cwd: folder };
}

function writeSession(name: string, options: { compactAt?: number }): string {
	const time = "2026-01-01T00:00:00.000Z";
	const id = (n: number) => n.toString(16).padStart(8, "0");
	const usage = {
		input: 1,
		output: 1,
		cacheRead: 0,
		cacheWrite: 0,
		totalTokens: 2,
		cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
	};
	const said = {
		api: "openai-completions",
		provider: "bench",
		model: "bench",
		usage,
		stopReason: "stop",
		timestamp: 1,
	};
	const lines = [
		JSON.stringify({ type: "session", version: 3, id: "copy", timestamp: time, cwd: folder, rlmDepth: 0 }),
	];
	for (let n = 0, parentId: string | null = null; n < MESSAGES; n++) {
		if (n === options.compactAt) {
			const entry = {
				type: "compaction",
				id: "ffffffff",
				parentId,
				timestamp: time,
				summary: "So far.",
				firstKeptEntryId: id(n - 1),
				tokensBefore: 9,
			};
			lines.push(JSON.stringify(entry));
			parentId = entry.id;
		}
		const text = `message ${n} says something short, as people and models do`;
		const message =
			n % 2 === 0
				? { role: "user", content: text, timestamp: 1 }
				: { role: "assistant", content: [{ type: "text", text }], ...said };
		lines.push(JSON.stringify({ type: "message", id: id(n), parentId, timestamp: time, message }));
		parentId = id(n);
	}
	const file = join(folder, name);
	writeFileSync(file, `${lines.join("\n")}\n`);
	return file;
}
