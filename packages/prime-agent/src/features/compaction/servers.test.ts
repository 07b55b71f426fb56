import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Api, Model } from "@earendil-works/pi-ai";
import { guardStream, streamByApi } from "@prime-agent/loop";
import {
	type ModelServer,
	reply,
	startAnthropicServer,
	startChatServer,
	startGeminiServer,
	startResponsesServer,
	tempHome,
} from "@prime-agent/testkit";
import { expect, test } from "vitest";
import { composeSession } from "../../compose.ts";
import { sendPrompt } from "../../protocol/session-operations.ts";

const FORMATS = [
	["anthropic-messages", startAnthropicServer],
	["openai-responses", startResponsesServer],
	["openai-completions", startChatServer],
	["google-generative-ai", startGeminiServer],
] as const;

function modelOf(api: Api, server: ModelServer, contextWindow: number): Model<Api> {
	return {
		id: "mock",
		name: "Mock",
		api,
		provider: "mock",
		baseUrl: server.baseUrl,
		input: ["text"],
		cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
		reasoning: false,
		contextWindow,
		maxTokens: 1_000,
	};
}

const cell = (code: string, input = 500) =>
	reply({ text: "I run it.", calls: [{ name: "ipython", arguments: { code } }], usage: { input, output: 50 } });

test.each(FORMATS)(
	"a strict server of %s takes everything that follows an overflow and a full context (C01, P21)",
	async (api, start) => {
		await using home = await tempHome();
		await using server = await start({ contextWindow: 6_000 });
		const cwd = join(home.path, "project");
		await mkdir(cwd);
		const model = modelOf(api, server, 20_000);
		const guarded = guardStream({ streamFn: streamByApi });
		const session = await composeSession({
			cwd,
			agentDir: join(home.path, "agent"),
			session: { kind: "memory" },
			chooseModel: () => Promise.resolve(model),
			streamFn: (asked, context, options) => guarded(asked, context, { ...options, apiKey: "sk-test" }),
			appendSystemPrompt: [],
			contextFiles: [],
			tools: "all",
			kernel: { env: home.env },
		});
		const say = (text: string) => session.call(sendPrompt.name, { text, until: "done" }, "client");
		server.script(
			cell("kept = 41\nprint('a' * 8000)"),
			cell("print('b' * 20000)"),
			reply({ text: "NOTES after the overflow" }),
			cell("print(kept + 1)"),
			cell("print('c')", 19_000),
			reply({ text: "NOTES of the full context" }),
			reply({ text: "first answer" }),
			cell("print(kept + 2)"),
			reply({ text: "second answer" }),
		);
		expect(await say("work")).toMatchObject({ stage: "completed" });
		expect(await say("go on")).toMatchObject({ stage: "completed" });
		expect(server.rejections.map(({ rule }) => rule)).toEqual(["context-overflow"]);
		expect(server.remaining).toBe(0);
		const { raw } = server.modelRequests.at(-1)!;
		expect(raw).toContain("NOTES of the full context");
		expect(raw).not.toContain("aaaa");
		expect(raw).toMatch(/\b43\b/);
		await session.dispose();
	},
);
