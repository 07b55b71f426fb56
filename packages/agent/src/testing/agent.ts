import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import {
	type LiveProcess,
	type ModelServer,
	type ProcessResult,
	runProcess,
	type Step,
	startAnthropicServer,
	startGeminiServer,
	startProcess,
	startResponsesServer,
	tempHome,
} from "@prime-agent/testkit";
import { findKeyVariable, type ProviderName } from "@prime-agent/toolset";
import { bundleAgent } from "./bundle.ts";

const servers = { anthropic: startAnthropicServer, openai: startResponsesServer, gemini: startGeminiServer };

/** How a test is set up. */
export interface TestAgentOptions {
	provider?: ProviderName;
	files?: Record<string, string>;
	script?: readonly Step[];
	/** Folder below the temporary one in which the agent starts. */
	below?: string;
	/** Added to the environment; `undefined` takes away. */
	env?: Record<string, string | undefined>;
	/** Where the model is reached, instead of the mock's address. */
	baseUrl?: (server: ModelServer) => string;
}

/** The real command against a mock server in a temporary folder. */
export interface TestAgent extends AsyncDisposable {
	server: ModelServer;
	/** The folder in which the agent starts. */
	folder: string;
	env: Record<string, string>;
	/** The program file. */
	main: string;
	run(...args: string[]): Promise<ProcessResult>;
	runWithInput(input: string, ...args: string[]): Promise<ProcessResult>;
	start(...args: string[]): LiveProcess;
	/** The content of a file, `undefined` where none is. */
	read(name: string): Promise<string | undefined>;
}

/**
 * Sets up a mock server and a folder. At its end a test fails if the server refused a request or answers were left
 * over.
 */
export async function makeAgent(options: TestAgentOptions = {}): Promise<TestAgent> {
	const { provider = "anthropic", files = {}, script = [], below = ".", env: added = {} } = options;
	const [main, home] = await Promise.all([bundleAgent(), tempHome()]);
	const server = await servers[provider]({ apiKey: "test-key-0123456789" });
	server.script(...script);
	const folder = join(home.path, "work", below);
	await mkdir(folder, { recursive: true });
	for (const [name, content] of Object.entries(files)) {
		await mkdir(dirname(join(folder, name)), { recursive: true });
		await writeFile(join(folder, name), content);
	}
	const env: Record<string, string> = {
		...home.env,
		[findKeyVariable(provider)]: "test-key-0123456789",
		[`${provider.toUpperCase()}_BASE_URL`]: options.baseUrl?.(server) ?? server.url,
	};
	for (const [name, value] of Object.entries(added)) {
		if (value === undefined) delete env[name];
		else env[name] = value;
	}
	const place = { cwd: folder, env, timeoutMs: 50_000 };
	return {
		server,
		folder,
		env,
		main,
		run: (...args) => runProcess(process.execPath, [main, ...args], place),
		runWithInput: (input, ...args) => runProcess(process.execPath, [main, ...args], { ...place, input }),
		start: (...args) => startProcess(process.execPath, [main, ...args], place),
		read: (name) => readFile(join(folder, name), "utf8").catch(() => undefined),
		async [Symbol.asyncDispose]() {
			const { rejections, remaining } = server;
			await server.close();
			await home.dispose();
			if (rejections.length > 0)
				throw new Error(`The server refused: ${JSON.stringify(rejections.map((one) => [one.rule, one.message]))}`);
			if (remaining > 0) throw new Error(`${remaining} answers were not asked for.`);
		},
	};
}

/** What `shell` commands of tests are started with, so that a test can find what they left behind. */
export function isAlive(pid: number): boolean {
	try {
		process.kill(pid, 0);
		return true;
	} catch {
		return false;
	}
}
