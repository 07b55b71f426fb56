import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

const event = (fields: object) =>
	`data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "bench", ...fields })}\n\n`;
const chunk = (delta: object, finish: string | null) =>
	event({ choices: [{ index: 0, delta, finish_reason: finish }] });

/** What servers send last when they are asked to count. */
const USAGE = event({ choices: [], usage: { prompt_tokens: 1500, completion_tokens: 20, total_tokens: 1520 } });

const callOf = (index: number) => ({
	role: "assistant",
	tool_calls: [
		{
			index: 0,
			id: `call_${index}`,
			type: "function",
			function: { name: "ipython", arguments: `{"code":"x = ${index}"}` },
		},
	],
});

/** A model server on loopback that asks for cells, one after another, and says how long each took. */
export interface CellServer {
	readonly url: string;
	/** Environment with a home of its own, in which `bench/bench` is a model of this server. */
	readonly env: NodeJS.ProcessEnv;
	readonly folder: string;
	/** From now on the first `cells` replies each ask for a cell. */
	begin(cells: number): void;
	/** Milliseconds from the end of a reply to the next request, in order. */
	gaps(): readonly number[];
	close(): Promise<void>;
}

/** Starts the server on a free port of 127.0.0.1. */
export async function startCellServer(): Promise<CellServer> {
	let cells = 0;
	let replied: number | undefined;
	let times: number[] = [];
	const server = createServer((request, response) => {
		if (replied !== undefined) times.push(performance.now() - replied);
		const index = times.length;
		request.resume().once("end", () => {
			response.writeHead(200, { "content-type": "text/event-stream" });
			const parts =
				index < cells
					? [chunk(callOf(index), null), chunk({}, "tool_calls")]
					: [chunk({ content: "done" }, null), chunk({}, "stop")];
			response.end(`${parts.join("")}${USAGE}data: [DONE]\n\n`);
			replied = performance.now();
		});
	});
	await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
	const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
	const home = await mkdtemp(join(tmpdir(), "bench-"));
	const provider = { baseUrl: url, api: "openai-completions", apiKey: "bench", models: [{ id: "bench" }] };
	await writeFile(join(home, "models.json"), JSON.stringify({ providers: { bench: provider } }));
	const folder = await mkdtemp(join(home, "work-"));
	return {
		url,
		env: { PATH: process.env.PATH, HOME: home, PRIME_AGENT_CODING_AGENT_DIR: home },
		folder,
		begin(count) {
			cells = count;
			replied = undefined;
			times = [];
		},
		gaps: () => times,
		async close() {
			server.closeAllConnections();
			await new Promise((done) => server.close(done));
			await rm(home, { recursive: true, force: true });
		},
	};
}
