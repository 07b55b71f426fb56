import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { startChatServer } from "@prime-agent/testkit";
import { expect, it, onTestFinished } from "vitest";
import { describeLocalServer, findLocalServers } from "./local-servers.ts";

it("finds a server that lists a model, and only asks for that list", async () => {
	const server = await startChatServer({ models: ["llama"] });
	onTestFinished(() => server.close());
	const port = Number(new URL(server.url).port);
	expect(await findLocalServers([{ name: "Ollama", port }], 30_000)).toEqual([
		{ name: "Ollama", baseUrl: `http://127.0.0.1:${port}/v1`, model: "llama" },
	]);
	expect(server.requests.map(({ method, path }) => `${method} ${path}`)).toEqual(["GET /v1/models"]);
});

it("passes over ports where nobody, something else or a silent server listens", async () => {
	const html = createServer((_request, response) => response.end("<html>"));
	const silent = createServer();
	const ports = await Promise.all(
		[html, silent].map(async (server) => {
			await new Promise<void>((fulfil) => server.listen(0, "127.0.0.1", fulfil));
			onTestFinished(() => {
				server.closeAllConnections();
				server.close();
			});
			return (server.address() as AddressInfo).port;
		}),
	);
	expect(await findLocalServers([...ports, 1].map((port) => ({ name: "x", port })))).toEqual([]);
});

it("shows the entry that makes a found server usable", () => {
	const text = describeLocalServer({ name: "LM Studio", baseUrl: "http://127.0.0.1:1234/v1", model: "m" });
	expect(text).toBe(
		'LM Studio answers at http://127.0.0.1:1234/v1. To use it, put this into models.json: {"providers":{"lm-studio":' +
			'{"baseUrl":"http://127.0.0.1:1234/v1","api":"openai-completions","models":[{"id":"m"}]}}}',
	);
});
