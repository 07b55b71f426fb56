import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
	type ModelServer,
	type ServerOptions,
	sharedPrefix,
	startAnthropicServer,
	startChatServer,
	startGeminiServer,
	startResponsesServer,
} from "@prime-agent/testkit";
import { expect, onTestFinished } from "vitest";
import { type CliHarness, setUpCli } from "./cli-harness.ts";

/** The four wire formats by the name that a provider has in these tests. */
export const FORMATS = ["chat", "anthropic", "responses", "gemini"] as const;

/** A wire format, and the provider that speaks it. */
export type Format = (typeof FORMATS)[number];

const KINDS = {
	chat: { api: "openai-completions", model: "chat-model", start: startChatServer },
	anthropic: { api: "anthropic-messages", model: "claude-opus-4-5", start: startAnthropicServer },
	responses: { api: "openai-responses", model: "gpt-5", start: startResponsesServer },
	gemini: { api: "google-generative-ai", model: "gemini-3-pro", start: startGeminiServer },
} as const;

/** Dollars per million tokens of every model. */
export const PRICES = { input: 2, output: 10, cacheRead: 0.5, cacheWrite: 2.5 };

/** The program with one provider for each wire format. */
export interface FormatsHarness extends CliHarness {
	readonly servers: Readonly<Record<Format, ModelServer>>;
	/** The model to name on the command line. */
	modelOf(format: Format): string;
	/** Every entry of the only session file. */
	readEntries(): Promise<Record<string, unknown>[]>;
	/** Fails unless every request was accepted and none was left unasked. */
	expectAccepted(): void;
	/** Fails unless each request to the format's server continues the one before. */
	expectPrefixes(format: Format): void;
}

/** Sets up the program for one test, with settings and servers as given. */
export async function setUpFormats(
	options: { settings?: object; server?: ServerOptions } = {},
): Promise<FormatsHarness> {
	const cli = await setUpCli({ model: "none" });
	const servers = {} as Record<Format, ModelServer>;
	const providers: Record<string, object> = {};
	for (const format of FORMATS) {
		const { api, model, start } = KINDS[format];
		const server = await start(options.server);
		onTestFinished(() => server.close());
		servers[format] = server;
		const features = {
			reasoning: true,
			input: ["text", "image"],
			contextWindow: 200_000,
			maxTokens: 8_192,
			cost: PRICES,
		};
		providers[format] = {
			baseUrl: server.baseUrl,
			api,
			apiKey: "sk-canary-0123456789",
			models: [{ id: model, ...features }],
		};
	}
	await mkdir(cli.agentFolder, { recursive: true, mode: 0o700 });
	await writeFile(join(cli.agentFolder, "models.json"), JSON.stringify({ providers }));
	const settings = { retry: { baseDelayMs: 1 }, ...options.settings };
	await writeFile(join(cli.agentFolder, "settings.json"), JSON.stringify(settings));
	return {
		...cli,
		servers,
		modelOf: (format) => `${format}/${KINDS[format].model}`,
		async readEntries() {
			const folder = join(cli.agentFolder, "sessions");
			const [name] = (await readdir(folder)).filter((file) => file.endsWith(".jsonl"));
			const lines = (await readFile(join(folder, name!), "utf8")).trimEnd().split("\n");
			return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
		},
		expectAccepted() {
			for (const format of FORMATS) {
				const { rejections, remaining } = servers[format];
				expect({ format, rejections: rejections.map(({ rule, message }) => `${rule}: ${message}`), remaining }).toEqual(
					{
						format,
						rejections: [],
						remaining: 0,
					},
				);
			}
		},
		expectPrefixes(format) {
			const { modelRequests } = servers[format];
			for (const [index, request] of modelRequests.slice(1).entries()) {
				const report = sharedPrefix(modelRequests[index]!, request, { ignore: ["cache_control"] });
				expect({ format, index, ...report }).toMatchObject({ isPrefix: true });
			}
		},
	};
}
