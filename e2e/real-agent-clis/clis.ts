import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** One real program and how it is pointed at a model server. */
export interface RealCli {
	readonly name: string;
	readonly words: readonly string[];
	/** Writes the program's configuration for the model server and returns what its environment needs. */
	readonly configure: (home: string, cwd: string, url: string) => NodeJS.ProcessEnv;
	/** What the model sees of a text, where the program adds something of its own around it. */
	readonly sees?: (text: string, seen: string) => boolean;
}

/** The programs of the trial; each lies in a folder of its name below the prefix. */
export const CLIS: readonly RealCli[] = [
	{
		name: "codex",
		words: ["codex"],
		configure: (home, cwd, url) => {
			const lines = [
				...['model = "mock-model"', 'model_provider = "mock"', "[model_providers.mock]", 'name = "mock"'],
				...[`base_url = "${url}/v1"`, 'wire_api = "responses"', 'env_key = "MOCK_KEY"'],
				...[`[projects."${cwd}"]`, 'trust_level = "trusted"', ""],
			];
			writeUnder(home, ".codex/config.toml", lines.join("\n"));
			return { CODEX_HOME: join(home, ".codex"), MOCK_KEY: "k" };
		},
	},
	{
		name: "claude",
		words: ["claude"],
		configure: (home, cwd, url) => {
			const state = { hasCompletedOnboarding: true, projects: { [cwd]: { hasTrustDialogAccepted: true } } };
			writeUnder(home, ".claude.json", JSON.stringify(state));
			const quiet = { DISABLE_AUTOUPDATER: "1", CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1" };
			return { ...quiet, ANTHROPIC_BASE_URL: url, ANTHROPIC_AUTH_TOKEN: "t" };
		},
		// A long paste is given to the model between two tags.
		sees: (text, seen) => seen === text || seen.includes(`>\n${text}\n</pasted_content`),
	},
	{
		name: "gemini",
		words: ["gemini", "-m", "mock-model"],
		configure: (home, _cwd, url) => {
			const security = { auth: { selectedType: "gemini-api-key" }, folderTrust: { enabled: false } };
			writeUnder(home, ".gemini/settings.json", JSON.stringify({ security }));
			return { GEMINI_API_KEY: "k", GOOGLE_GEMINI_BASE_URL: url };
		},
	},
	{
		name: "opencode",
		words: ["opencode"],
		configure: (_home, cwd, url) => {
			const mock = {
				...{ npm: "@ai-sdk/openai-compatible", name: "Mock", options: { baseURL: `${url}/v1`, apiKey: "k" } },
				models: { "mock-model": { name: "Mock Model" } },
			};
			writeUnder(cwd, "opencode.json", JSON.stringify({ model: "mock/mock-model", provider: { mock } }));
			return {};
		},
	},
	{
		name: "pi",
		words: ["pi", "--provider", "mock", "--model", "mock-model"],
		configure: (home, _cwd, url) => {
			const model = {
				...{
					id: "mock-model",
					name: "mock",
					reasoning: false,
					input: ["text"],
					contextWindow: 128_000,
					maxTokens: 4096,
				},
				cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
			};
			const mock = { baseUrl: `${url}/v1`, apiKey: "k", api: "openai-completions", models: [model] };
			writeUnder(home, ".pi/agent/models.json", JSON.stringify({ providers: { mock } }));
			return { PI_OFFLINE: "1" };
		},
	},
];

function writeUnder(folder: string, path: string, text: string): void {
	mkdirSync(join(folder, path, ".."), { recursive: true });
	writeFileSync(join(folder, path), text);
}
