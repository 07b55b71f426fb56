import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
	type Drive,
	endSession,
	interruptSession,
	launchSession,
	PaneError,
	readTurnState,
	realClock,
	sendAndWait,
	sendToSession,
	TIMINGS,
	Tmux,
	waitForIdle,
} from "@prime-agent/panes";
import { describe, expect, it } from "vitest";
import { LenientModel } from "./testing/lenient-model.ts";

/**
 * Drives the real programs against a model server on the loopback. Opt-in, because they must be installed first, each
 * in a folder of its name below a prefix:
 *
 *     mkdir -p PREFIX/codex && npm install --prefix PREFIX/codex @openai/codex@0.171.0
 *     REAL_AGENT_CLIS=PREFIX vitest run e2e/real-agent-clis.test.ts
 */
const prefix = process.env.REAL_AGENT_CLIS;

const POLLS = Number(process.env.REAL_AGENT_CLIS_POLLS ?? 200);

interface RealCli {
	readonly name: string;
	readonly words: readonly string[];
	/** Writes the program's configuration for the model server and returns what its environment needs. */
	readonly configure: (home: string, cwd: string, url: string) => NodeJS.ProcessEnv;
	/** What the model sees of a text, where the program adds something of its own around it. */
	readonly sees?: (text: string, seen: string) => boolean;
}

const CLIS: readonly RealCli[] = [
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

const TEXTS = [
	"hello there",
	"$(x) `y` \"q\" 'z' ~ #{x};",
	"two\nlines",
	"日本語 🙂 é שלום",
	"/home/user/file is a path",
	"? what",
	"@a #b",
	"-n dash",
	"!shell",
	"ends with \\",
	"a\ttab",
	`long ${"x".repeat(5000)}`,
];

describe.skipIf(prefix === undefined)("the real agent CLIs (set REAL_AGENT_CLIS to where they are installed)", () => {
	it.each(CLIS.map((cli) => [cli.name, cli] as const))(
		"%s takes texts, queues, is busy while it works, stops and ends",
		async (name, cli) => {
			await using model = new LenientModel();
			const url = await model.start();
			const home = mkdtempSync(join(tmpdir(), "real-"));
			const cwd = join(home, "project");
			mkdirSync(cwd);
			const env: NodeJS.ProcessEnv = {
				PATH: `${prefix}/${name}/node_modules/.bin:${process.execPath.replace(/\/[^/]+$/, "")}:${process.env.PATH}`,
				...{ HOME: home, LANG: "C.UTF-8", TERM: "xterm-256color", SHELL: "/bin/sh", TMUX_TMPDIR: home },
				...cli.configure(home, cwd, url),
			};
			const tmux = new Tmux({ name: "real" }, { env });
			const drive: Drive = { tmux, clock: realClock, timings: TIMINGS, env, warn: (message) => console.warn(message) };
			try {
				const size = { width: 120, height: 40 };
				await launchSession(drive, { name: "real", words: cli.words, cwd, timeoutMs: 120_000, size });
				expect(await sendAll(drive, cli, model)).toEqual([]);
				await holdAndPoll(drive, model);
				await sendToSession(drive, "real", "again HOLD", { clear: true });
				await waitForBusy(drive);
				expect((await interruptSession(drive, "real")).isInterrupted).toBe(true);
				expect(await waitForIdle(drive, "real", { capMs: 60_000 })).toBe("idle");
				expect(await endSession(drive, "real")).toBe(true);
			} finally {
				await tmux.ask(["kill-server"]);
				rmSync(home, { recursive: true, force: true, maxRetries: 5 });
			}
		},
		900_000,
	);
});

/** Sends every text and returns those that neither arrived as they were nor were refused with a reason. */
async function sendAll(drive: Drive, cli: RealCli, model: LenientModel): Promise<string[]> {
	const lost: string[] = [];
	for (const text of TEXTS) {
		const before = model.requests.length;
		try {
			await sendAndWait(drive, "real", text, { capMs: 60_000, lines: 1, clear: true });
		} catch (error) {
			if (error instanceof PaneError && error.code === "refused") continue;
			throw error;
		}
		const seen = model.texts().slice(before);
		const sees = cli.sees ?? ((sent: string, got: string) => got === sent);
		if (!seen.some((each) => sees(text, each)))
			lost.push(`${text.slice(0, 40)} -> ${JSON.stringify(seen).slice(0, 200)}`);
	}
	return lost;
}

/** Over many looks into a held turn the state is never idle and nearly always busy, and idle soon after its end. */
async function holdAndPoll(drive: Drive, model: LenientModel): Promise<void> {
	const before = model.requests.length;
	await sendToSession(drive, "real", "please HOLD this", { clear: true });
	await waitForBusy(drive);
	expect(["queued", "submitted"]).toContain(await sendToSession(drive, "real", "second while busy"));
	const words: string[] = [];
	for (let poll = 0; poll < POLLS; poll++) words.push((await readTurnState(drive, "real", 100)).state);
	expect(words).not.toContain("idle");
	expect(words.filter((word) => word === "busy").length).toBeGreaterThanOrEqual(POLLS * 0.95);
	model.release();
	expect(await waitForIdle(drive, "real", { capMs: 60_000 })).toBe("idle");
	expect(model.texts().slice(before).join("\n")).toContain("second while busy");
}

async function waitForBusy(drive: Drive): Promise<void> {
	for (let end = Date.now() + 60_000; Date.now() < end; ) {
		if ((await readTurnState(drive, "real", 0)).state === "busy") return;
	}
	throw new Error("the turn was never seen");
}

function writeUnder(folder: string, path: string, text: string): void {
	mkdirSync(join(folder, path, ".."), { recursive: true });
	writeFileSync(join(folder, path), text);
}
