import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { type Figure, type Program, runProgram, timeProgram, weighProgram } from "./measure.ts";

// What a whole run of `agent` costs until its first request, against `node -e 0` of the same Node.js.

const events = [
	{
		type: "message_start",
		message: {
			id: "msg_1",
			type: "message",
			role: "assistant",
			model: "bench",
			content: [],
			usage: { input_tokens: 1, output_tokens: 1 },
		},
	},
	{ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
	{ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "done" } },
	{ type: "content_block_stop", index: 0 },
	{ type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 1 } },
	{ type: "message_stop" },
];
const answer = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");

let lastRequest: number | undefined;
const server = createServer((request, response) => {
	request.resume().once("end", () => response.writeHead(200, { "content-type": "text/event-stream" }).end(answer));
});
server.on("connection", (socket) => {
	socket.once("data", () => {
		lastRequest = performance.now();
	});
});
await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
const cwd = await mkdtemp(join(tmpdir(), "bench-"));
const env = {
	PATH: process.env.PATH,
	HOME: cwd,
	ANTHROPIC_API_KEY: "bench",
	ANTHROPIC_BASE_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
};
const bundle = resolve(import.meta.dirname, "../packages/agent/dist/main.js");
const nothing: Program = { file: process.execPath, args: ["-e", "0"], env, cwd };
const prompt: Program = { file: process.execPath, args: [bundle, "hi"], env, cwd };
const unavailable = async () => (existsSync(bundle) ? undefined : "there is no bundle");

/** What `bench/run.ts` measures. */
export const figures: Figure[] = [
	{
		name: "agent, start to first request",
		unit: "ms",
		floorName: "node -e 0",
		floor: () => timeProgram(nothing),
		subject: timeFirstRequest,
		unavailable,
	},
	{
		name: "agent, peak memory",
		unit: "MB",
		limit: 2.3,
		floorName: "node -e 0",
		floor: () => weighProgram(nothing),
		subject: () => weighProgram(prompt),
		unavailable,
	},
];

/** Ends the server and removes its folder. */
export async function close(): Promise<void> {
	server.closeAllConnections();
	await new Promise((done) => server.close(done));
	await rm(cwd, { recursive: true, force: true });
}

async function timeFirstRequest(): Promise<number> {
	const started = performance.now();
	await runProgram(prompt);
	if (lastRequest === undefined || lastRequest < started) throw new Error("agent ended without a request");
	return lastRequest - started;
}
