import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { normalizeContext } from "@earendil-works/pi-ai";
import { guardStream, loadAdapter, wireFormats } from "@prime-agent/loop";
import { type ModelServer, raw, reply, startChatServer } from "@prime-agent/testkit";
import { expect, it, onTestFinished } from "vitest";
import { Credentials } from "../auth/credentials.ts";
import { ModelRegistry } from "./registry.ts";
import { createStream } from "./stream.ts";

async function ask(
	server: ModelServer,
	provider: object,
	env: Record<string, string> = {},
	stored: Record<string, string> = {},
) {
	const folder = await mkdtemp(join(tmpdir(), "prime-agent-stream-"));
	onTestFinished(() => rm(folder, { recursive: true, force: true }));
	await mkdir(folder, { recursive: true });
	const written = { baseUrl: server.baseUrl, api: "openai-completions", models: [{ id: "m" }], ...provider };
	await writeFile(join(folder, "models.json"), JSON.stringify({ providers: { local: written } }));
	const entries = Object.entries(stored).map(([id, key]) => [id, { type: "api_key", key }]);
	await writeFile(join(folder, "auth.json"), JSON.stringify(Object.fromEntries(entries)), { mode: 0o600 });
	const keys = new Credentials({ agentFolder: folder, env });
	const registry = ModelRegistry.open({ agentFolder: folder, env, keys, wireFormats });
	const stream = createStream({
		registry,
		env,
		userAgent: "prime-agent/test",
		loadAdapter,
		guard: (streamFn, amend) => guardStream({ streamFn, amend }),
	});
	const context = normalizeContext({ messages: [{ role: "user", content: "hi", timestamp: 0 }] });
	const model = await registry.find("local", "m");
	return (await stream(model!, context)).result();
}

async function start(): Promise<ModelServer> {
	const server = await startChatServer();
	onTestFinished(() => server.close());
	return server;
}

it("sends the key and the program's own name", async () => {
	const server = await start();
	server.script(reply({ text: "hello" }));
	const message = await ask(server, { apiKey: "sk-of-the-file" });
	expect(message).toMatchObject({ stopReason: "stop", content: [{ type: "text", text: "hello" }] });
	expect(server.requests[0]?.headers).toMatchObject({
		authorization: "Bearer sk-of-the-file",
		"user-agent": "prime-agent/test",
	});
});

it("sends no authorization to a server that has no key", async () => {
	const server = await start();
	server.script(reply({ text: "hello" }));
	expect((await ask(server, {})).stopReason).toBe("stop");
	expect(server.requests[0]?.headers).not.toHaveProperty("authorization");
});

it("sends the headers of models.json with their values resolved", async () => {
	const server = await start();
	server.script(reply({ text: "hello" }));
	await ask(
		server,
		{ headers: { "x-team": "TEAM", "x-made": "!echo made" } },
		{ TEAM: "blue", PATH: process.env.PATH! },
	);
	expect(server.requests[0]?.headers).toMatchObject({ "x-team": "blue", "x-made": "made" });
});

it("asks only once when the server fails: retries belong to the session", async () => {
	const server = await start();
	server.script(raw({ status: 500, body: { error: { message: "broken" } } }), reply({ text: "late" }));
	expect((await ask(server, { apiKey: "k" })).stopReason).toBe("error");
	expect(server.requests).toHaveLength(1);
});

it("says once how to renew refused credentials, and never shows the key", async () => {
	const server = await start();
	const key = "sk-canary-1234567890";
	server.script(raw({ status: 401, body: { error: { message: `Incorrect API key provided: ${key}` } } }));
	const message = await ask(server, { apiKey: key });
	expect(message.errorMessage).toMatch(/401[\s\S]*\n\nRun \/login to update credentials\. /);
	expect(message.errorMessage?.match(/\/login/g)).toHaveLength(1);
	expect(JSON.stringify(message)).not.toContain(key);
});

it.each<[string, object, Record<string, string>, string]>([
	["models.json", { apiKey: "k" }, {}, "local refused the key in models.json (apiKey of provider local)."],
	["auth.json", {}, { local: "k" }, "local refused the key in auth.json."],
	["nowhere", {}, {}, 'local wants a key, and there is none: write it as "apiKey" of provider local into models.json.'],
])("says that the refused key came from %s", async (_place, provider, stored, sentence) => {
	const server = await start();
	server.script(raw({ status: 401, body: { error: { message: "Incorrect API key provided." } } }));
	const { errorMessage } = await ask(server, provider, {}, stored);
	expect(errorMessage?.split("\n").slice(0, 4)).toEqual([
		"401 Incorrect API key provided.",
		sentence,
		"",
		expect.stringContaining("/login"),
	]);
});

it("does not call a key refused that may only not do this", async () => {
	const server = await start();
	server.script(raw({ status: 403, body: { error: { message: "no" } } }));
	expect((await ask(server, { apiKey: "k" })).errorMessage).toContain(
		"local does not allow this with the key in models.json (apiKey of provider local).",
	);
});

it("shows which address a 404 came from, without what logs in, and that /v1 may be missing", async () => {
	const server = await start();
	const written = server.url.replace("//", "//user:canary@");
	const { errorMessage } = await ask(server, { baseUrl: written });
	expect(errorMessage).toBe(
		"404 Unknown request URL: POST /chat/completions.\n" +
			`Asked was ${server.url}/chat/completions; the address comes from models.json. ` +
			"Most servers want an address that ends in /v1.",
	);
});

it("shows no key that is part of the address", async () => {
	const server = await start();
	const { errorMessage } = await ask(server, { baseUrl: `${server.url}/sk-canary-1/v1`, apiKey: "sk-canary-1" });
	expect(errorMessage).toContain(`Asked was ${server.url}/[redacted]/v1/chat/completions;`);
	expect(errorMessage).not.toContain("canary");
});

it("does not miss /v1 in an address that has it", async () => {
	const server = await start();
	server.script(raw({ status: 404, body: { error: { message: "no such model" } } }));
	expect((await ask(server, {})).errorMessage).toBe(
		`404 no such model\nAsked was ${server.baseUrl}/chat/completions; the address comes from models.json.`,
	);
});

it("asks whether a server of models.json is running when nobody listens there", async () => {
	const server = await start();
	await server.close();
	expect((await ask(server, {})).errorMessage).toMatch(
		/^Could not reach [^\n]*ECONNREFUSED[^\n]*\nIs the server of provider local running\? Its address comes from models\.json\.$/,
	);
});

it("leaves an error alone that already names the way to new credentials", async () => {
	const server = await start();
	server.script(raw({ status: 403, body: { error: { message: "Token expired, use /login again." } } }));
	expect((await ask(server, { apiKey: "k" })).errorMessage?.match(/\/login/g)).toHaveLength(1);
});

it("does not talk of credentials when something else failed", async () => {
	const server = await start();
	server.script(raw({ status: 500, body: { error: { message: "broken" } } }));
	expect((await ask(server, { apiKey: "k" })).errorMessage).not.toContain("/login");
});
