import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import {
	type LiveProcess,
	type ModelServer,
	type ProcessResult,
	runProcess,
	type ServerOptions,
	startChatServer,
	startProcess,
	type TempHome,
	tempHome,
} from "@prime-agent/testkit";
import { onTestFinished } from "vitest";

const MAIN = resolve(import.meta.dirname, "../packages/prime-agent/src/main.ts");

/** How to start the program in a test. */
export interface RunOptions {
	readonly input?: string;
	readonly env?: Readonly<Record<string, string>>;
	readonly cwd?: string;
}

/** The program with a home folder of its own, an empty working folder and a mock server as its only model. */
export interface CliHarness {
	readonly home: TempHome;
	readonly server: ModelServer;
	/** The empty working folder. */
	readonly cwd: string;
	readonly agentFolder: string;
	/** Runs the program to its end, with nothing piped in unless `input` is given. */
	run(argv: readonly string[], options?: RunOptions): Promise<ProcessResult>;
	/** Starts the program; its input stays open. */
	start(argv: readonly string[], options?: RunOptions): LiveProcess;
}

/** The arguments with which Node runs the program from its source. */
export function nodeArguments(argv: readonly string[]): string[] {
	return [MAIN, ...argv];
}

/** Sets the program up for one test; everything is removed when the test ends. */
export async function setUpCli(options: { model?: "none"; server?: ServerOptions } = {}): Promise<CliHarness> {
	const home = await tempHome();
	onTestFinished(() => home.dispose());
	const server = await startChatServer(options.server);
	onTestFinished(() => server.close());
	const cwd = join(home.path, "work");
	const agentFolder = join(home.path, ".prime", "agent");
	await mkdir(cwd);
	if (options.model !== "none") {
		await mkdir(agentFolder, { recursive: true });
		const provider = {
			baseUrl: server.baseUrl,
			api: "openai-completions",
			apiKey: "sk-canary-0123456789",
			models: [{ id: "mock", contextWindow: 200_000 }],
		};
		await writeFile(join(agentFolder, "models.json"), JSON.stringify({ providers: { mock: provider } }));
		await chmod(agentFolder, 0o700);
	}
	const place = (run: RunOptions) => ({ cwd: run.cwd ?? cwd, env: { ...home.env, ...run.env }, timeoutMs: 60_000 });
	return {
		home,
		server,
		cwd,
		agentFolder,
		run: (argv, run = {}) =>
			runProcess(process.execPath, nodeArguments(argv), { ...place(run), input: run.input ?? "" }),
		start(argv, run = {}) {
			const live = startProcess(process.execPath, nodeArguments(argv), {
				...place(run),
				...(run.input === undefined ? {} : { input: run.input }),
			});
			onTestFinished(() => live[Symbol.asyncDispose]());
			return live;
		},
	};
}
