import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

const chunk = (delta: object, finish: string | null) =>
	`data: ${JSON.stringify({
		id: "chatcmpl-1",
		object: "chat.completion.chunk",
		created: 1,
		model: "bench",
		choices: [{ index: 0, delta, finish_reason: finish }],
	})}\n\n`;
const answer = `${chunk({ role: "assistant", content: "done" }, null)}${chunk({}, "stop")}data: [DONE]\n\n`;

/** A model server on loopback that answers every chat with one word, and an agent folder that knows it. */
export interface ModelServer {
	/** Environment with a home of its own, in which `bench/bench` and `bench/wide` (10 M tokens) are models of this server. */
	env: NodeJS.ProcessEnv;
	/** An empty folder to work in. */
	folder: string;
	/** When the first byte of the last request came, on the clock of `performance.now()`. */
	lastRequest(): number | undefined;
	close(): Promise<void>;
}

/** Starts the server on a free port of 127.0.0.1. */
export async function startModelServer(): Promise<ModelServer> {
	let last: number | undefined;
	const server = createServer((request, response) => {
		request.resume().once("end", () => {
			response.writeHead(200, { "content-type": "text/event-stream" }).end(answer);
		});
	});
	server.on("connection", (socket) => {
		socket.once("data", () => {
			last = performance.now();
		});
	});
	await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
	const { port } = server.address() as AddressInfo;
	const folder = await mkdtemp(join(tmpdir(), "bench-"));
	const baseUrl = `http://127.0.0.1:${port}/v1`;
	const models = [{ id: "bench" }, { id: "wide", contextWindow: 10_000_000 }];
	const provider = { baseUrl, api: "openai-completions", apiKey: "bench", models };
	await writeFile(join(folder, "models.json"), JSON.stringify({ providers: { bench: provider } }));
	const work = await mkdtemp(join(folder, "work-"));
	return {
		env: { PATH: process.env.PATH, HOME: folder, PRIME_AGENT_CODING_AGENT_DIR: folder },
		folder: work,
		lastRequest: () => last,
		async close() {
			server.closeAllConnections();
			await new Promise((done) => server.close(done));
			await rm(folder, { recursive: true, force: true });
		},
	};
}
