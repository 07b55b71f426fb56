import type { Api, Message, Model } from "@earendil-works/pi-ai";
import { type AgentLoopConfig, type AgentTool, agentLoop, guardStream, streamByApi } from "@prime-agent/loop";
import type { KernelPort } from "../../session/ports.ts";
import { PROMPT, TOOL } from "./bare-loop.ts";

const model: Model<Api> = {
	id: "bench",
	name: "Bench",
	api: "openai-completions",
	provider: "bench",
	baseUrl: "",
	reasoning: false,
	input: ["text"],
	cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
	contextWindow: 128_000,
	maxTokens: 16_384,
};

/**
 * The loop that sessions use, over the same guarded stream and adapter, with the same kernel and without a session:
 * asks the server at `baseUrl` and runs the cells that it asks for until it asks for none.
 */
export async function runAgentLoop(kernel: Pick<KernelPort, "execute">, baseUrl: string): Promise<void> {
	const tool: AgentTool = {
		...TOOL.function,
		label: "ipython",
		async execute(_id, { code }: { code: string }, signal) {
			const { stdout, result = "" } = await kernel.execute(code, signal ? { signal } : {});
			return { content: [{ type: "text", text: stdout + result || "[no output]" }], details: {} };
		},
	};
	const context = { systemPrompt: PROMPT, messages: [], tools: [tool] };
	const config: AgentLoopConfig = {
		model: { ...model, baseUrl },
		apiKey: "bench",
		convertToLlm: (messages) => messages as Message[],
	};
	const prompt = { role: "user" as const, content: "hi", timestamp: Date.now() };
	const events = agentLoop([prompt], context, config, undefined, guardStream({ streamFn: streamByApi }));
	for await (const event of events) {
		if (event.type === "message_end" && event.message.role === "assistant" && event.message.errorMessage)
			throw new Error(event.message.errorMessage);
	}
}
