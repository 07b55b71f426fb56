import { cp, mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { createServer as createServer2 } from "node:http2";
import type { AddressInfo, Server } from "node:net";
import { join, resolve } from "node:path";
import { crc32 } from "node:zlib";
import { runProcess, type TempHome, tempHome } from "@prime-agent/testkit";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";

// What only a bundle can get wrong: code that is loaded late has to be in it. It runs far from any node_modules.

const root = resolve(import.meta.dirname, "..");
let home: TempHome;
let bundle = "";
let panes = "";

beforeAll(async () => {
	home = await tempHome();
	const built = await runProcess(process.execPath, [join(root, "scripts/build.ts"), "prime-agent", "panes"], {
		cwd: root,
		env: { ...process.env },
		timeoutMs: 240_000,
	});
	expect({
		code: built.code,
		stderr: built.stderr.replaceAll(/.*ExperimentalWarning.*\n|\(Use `node .*\n/g, ""),
	}).toEqual({ code: 0, stderr: "" });
	bundle = await copyBundle("prime-agent");
	panes = await copyBundle("panes");
}, 300_000);

afterAll(() => home.dispose());

async function copyBundle(name: string): Promise<string> {
	const dist = join(root, "packages", name, "dist");
	const { id } = JSON.parse(await readFile(join(dist, "build.json"), "utf8")) as { id: string };
	const copy = join(home.path, name);
	await mkdir(copy);
	await cp(join(dist, "main.js"), join(copy, "main.js"));
	await cp(join(dist, id), join(copy, id), { recursive: true });
	await writeFile(join(copy, "package.json"), '{ "type": "module" }');
	return copy;
}

/** Runs the bundle in an empty folder with these variables. */
async function run(argv: readonly string[], env: Record<string, string>) {
	const cwd = join(home.path, "work");
	await mkdir(cwd, { recursive: true });
	return runProcess(process.execPath, [join(bundle, "main.js"), ...argv], {
		cwd,
		env: { ...home.env, ...env },
		timeoutMs: 120_000,
		input: "",
	});
}

async function listen(server: Server): Promise<number> {
	await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
	onTestFinished(() => void server.close());
	return (server.address() as AddressInfo).port;
}

/** One message of Amazon's event stream: https://docs.aws.amazon.com/transcribe/latest/dg/event-stream.html. */
function awsEvent(type: string, payload: object): Buffer {
	const header = (name: string, value: string) => {
		const size = Buffer.alloc(2);
		size.writeUInt16BE(value.length);
		return Buffer.concat([Buffer.from([name.length]), Buffer.from(name), Buffer.from([7]), size, Buffer.from(value)]);
	};
	const headers = Buffer.concat([
		header(":event-type", type),
		header(":content-type", "application/json"),
		header(":message-type", "event"),
	]);
	const body = Buffer.from(JSON.stringify(payload));
	const whole = Buffer.alloc(16 + headers.length + body.length);
	whole.writeUInt32BE(whole.length, 0);
	whole.writeUInt32BE(headers.length, 4);
	whole.writeUInt32BE(crc32(whole.subarray(0, 8)), 8);
	headers.copy(whole, 12);
	body.copy(whole, 12 + headers.length);
	whole.writeUInt32BE(crc32(whole.subarray(0, -4)), whole.length - 4);
	return whole;
}

it("the bundle asks Amazon Bedrock, whose library it loads for that", async () => {
	const asked: unknown[] = [];
	const server = createServer2((request, response) => {
		asked.push({ path: request.url, key: request.headers.authorization });
		request.resume().once("end", () => {
			response.writeHead(200, { "content-type": "application/vnd.amazon.eventstream" });
			response.write(awsEvent("messageStart", { role: "assistant" }));
			response.write(awsEvent("contentBlockDelta", { contentBlockIndex: 0, delta: { text: "from Bedrock" } }));
			response.write(awsEvent("contentBlockStop", { contentBlockIndex: 0 }));
			response.write(awsEvent("messageStop", { stopReason: "end_turn" }));
			response.end(
				awsEvent("metadata", { usage: { inputTokens: 1, outputTokens: 2, totalTokens: 3 }, metrics: { latencyMs: 1 } }),
			);
		});
	});
	const port = await listen(server);
	const env = {
		AWS_BEARER_TOKEN_BEDROCK: "token",
		AWS_REGION: "us-east-1",
		AWS_ENDPOINT_URL_BEDROCK_RUNTIME: `http://127.0.0.1:${port}`,
	};
	const { code, stdout, stderr } = await run(["-p", "--provider", "amazon-bedrock", "hi"], env);
	expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: "from Bedrock\n", stderr: "" });
	expect(asked).toEqual([{ path: expect.stringMatching(/^\/model\/.*\/converse-stream$/), key: "Bearer token" }]);
});

const ANSWER = [
	{
		type: "message_start",
		message: {
			id: "msg_1",
			type: "message",
			role: "assistant",
			model: "m",
			content: [],
			usage: { input_tokens: 1, output_tokens: 1 },
		},
	},
	{ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
	{ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "renewed" } },
	{ type: "content_block_stop", index: 0 },
	{ type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 1 } },
	{ type: "message_stop" },
];

it("the bundle renews an expired login, keeps the new one privately, and asks with it", async () => {
	const asked: { url: string; key: string; body: string }[] = [];
	const server = createServer(async (request, response) => {
		let body = "";
		for await (const piece of request) body += piece;
		asked.push({ url: request.url ?? "", key: request.headers.authorization ?? "", body });
		if (request.url?.includes("/oauth/token")) {
			response.setHeader("content-type", "application/json");
			response.end(
				JSON.stringify({
					access_token: "sk-ant-oat01-new",
					refresh_token: "refresh-2",
					expires_in: 3600,
					token_type: "Bearer",
				}),
			);
		} else {
			response.writeHead(200, { "content-type": "text/event-stream" });
			response.end(ANSWER.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(""));
		}
	});
	const port = await listen(server);
	// the address of the provider's token server is fixed: whatever would leave the machine goes to the mock
	const redirect = join(home.path, "redirect.mjs");
	await writeFile(
		redirect,
		`const real = globalThis.fetch;
globalThis.fetch = (input, init) => {
	const url = new URL(typeof input === "string" || input instanceof URL ? input : input.url);
	return real(url.hostname === "127.0.0.1" ? input : "http://127.0.0.1:${port}" + url.pathname, init);
};
`,
	);
	const agent = join(home.path, ".prime", "agent");
	await mkdir(agent, { recursive: true, mode: 0o700 });
	const login = { type: "oauth", access: "sk-ant-oat01-old", refresh: "refresh-1", expires: 1000 };
	const other = { type: "api_key", key: "sk-other" };
	await writeFile(join(agent, "auth.json"), JSON.stringify({ anthropic: login, openai: other }), { mode: 0o600 });
	const env = { NODE_OPTIONS: `--import=${redirect}`, ANTHROPIC_BASE_URL: `http://127.0.0.1:${port}` };
	const { code, stdout, stderr } = await run(["-p", "--provider", "anthropic", "hi"], env);
	expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: "renewed\n", stderr: "" });
	expect(asked).toHaveLength(2);
	expect(asked[0]?.body).toContain("refresh-1");
	expect(asked[1]).toMatchObject({ url: expect.stringMatching(/^\/v1\/messages/), key: "Bearer sk-ant-oat01-new" });
	const stored = JSON.parse(await readFile(join(agent, "auth.json"), "utf8"));
	expect(stored).toMatchObject({
		anthropic: { type: "oauth", access: "sk-ant-oat01-new", refresh: "refresh-2" },
		openai: other,
	});
	expect(stored.anthropic.expires).toBeGreaterThan(Date.now());
	expect((await stat(join(agent, "auth.json"))).mode & 0o777).toBe(0o600);
	expect(JSON.stringify(asked)).not.toContain("sk-ant-oat01-old");
});

const CHUNKS = [
	{ choices: [{ index: 0, delta: { role: "assistant", content: "renewed" }, finish_reason: null }] },
	{ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
];

it.each([
	["openai-completions", [...CHUNKS.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`), "data: [DONE]\n\n"]],
	["anthropic-messages", ANSWER.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)],
])("the bundle asks a model of %s without loading undici", async (api, events) => {
	const server = createServer((request, response) => {
		request.resume().once("end", () => {
			response.writeHead(200, { "content-type": "text/event-stream" }).end(events.join(""));
		});
	});
	const baseUrl = `http://127.0.0.1:${await listen(server)}`;
	const agent = join(home.path, `agent-${api}`);
	await mkdir(agent, { mode: 0o700 });
	const models = { providers: { mock: { baseUrl, api, apiKey: "key", models: [{ id: "one" }] } } };
	await writeFile(join(agent, "models.json"), JSON.stringify(models));
	const report = join(home.path, "report.mjs");
	const loaded = 'process.moduleLoadList.filter((name) => name.includes("undici"))';
	await writeFile(report, `process.on("exit", () => process.stderr.write(JSON.stringify(${loaded})));\n`);
	const env = { NODE_OPTIONS: `--import=${report}`, PRIME_AGENT_CODING_AGENT_DIR: agent };
	const { code, stdout, stderr } = await run(["-p", "--model", "mock/one", "hi"], env);
	expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: "renewed\n", stderr: "[]" });
});

it("cells of the bundle run on the runtime and the skills that lie in it", async () => {
	const { code, stdout } = await run(["kernel", "status"], {});
	expect(code).toBe(0);
	expect(stdout).toMatch(/^Kernel: /);
	const { stdout: help } = await run(["--demo", "-p", "What is in this folder?"], {});
	expect(help).toContain("holds 0 files");
});

it("the bundle of agent-tmux reads configuration files and prints YAML", async () => {
	const cwd = join(home.path, "project");
	await mkdir(join(home.path, ".config/agent-tmux"), { recursive: true });
	await mkdir(cwd, { recursive: true });
	await writeFile(join(home.path, ".config/agent-tmux/config.yaml"), "agent: { workers: codex }\n");
	const printed = await runProcess(process.execPath, [join(panes, "main.js"), "print", "ship", "--output", "yaml"], {
		cwd,
		env: home.env,
		timeoutMs: 60_000,
		input: "",
	});
	expect(printed).toMatchObject({ code: 0, stderr: "", stdout: expect.stringMatching(/^provider: codex$/m) });
});
