import type { KernelPort } from "../../session/ports.ts";

// The least that a cell can cost: the same requests and cells by the least code that is still right.

/** About as long as the system prompt and the tool of a session without instructions of a project. */
export const PROMPT = "You run Python cells. ".repeat(100);
/** The one tool. */
export const TOOL = {
	type: "function",
	function: {
		name: "ipython",
		description: "Run a cell.",
		parameters: { type: "object", properties: { code: { type: "string" } }, required: ["code"] },
	},
};

interface Call {
	id: string;
	type: "function";
	function: { name: string; arguments: string };
}

interface Delta {
	readonly content?: string;
	readonly tool_calls?: readonly {
		readonly index: number;
		readonly id?: string;
		readonly function?: Partial<Call["function"]>;
	}[];
}

/**
 * Asks a server of chat completions and runs the cells that it asks for until it asks for none. Sends the whole
 * conversation each time and reads the stream as it comes; keeps nothing else and survives no fault.
 */
export async function runBareLoop(kernel: Pick<KernelPort, "execute">, baseUrl: string): Promise<void> {
	const messages: object[] = [
		{ role: "system", content: PROMPT },
		{ role: "user", content: "hi" },
	];
	for (;;) {
		const { content, calls } = await ask(`${baseUrl}/chat/completions`, messages);
		if (calls.length === 0) return;
		messages.push({ role: "assistant", content: content || null, tool_calls: calls });
		for (const call of calls) {
			const { code } = JSON.parse(call.function.arguments) as { code: string };
			const { stdout, result = "" } = await kernel.execute(code);
			messages.push({ role: "tool", tool_call_id: call.id, content: stdout + result || "[no output]" });
		}
	}
}

async function ask(url: string, messages: readonly object[]): Promise<{ content: string; calls: Call[] }> {
	const answer = await fetch(url, {
		method: "POST",
		headers: { authorization: "Bearer bench", "content-type": "application/json" },
		body: JSON.stringify({ model: "bench", stream: true, messages, tools: [TOOL] }),
	});
	if (!answer.ok || !answer.body) throw new Error(`The server answered ${answer.status}.`);
	const calls: Call[] = [];
	const decoder = new TextDecoder();
	let content = "";
	let rest = "";
	for await (const bytes of answer.body) {
		const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n");
		rest = lines.pop() ?? "";
		for (const line of lines) {
			if (!line.startsWith("data: ") || line === "data: [DONE]") continue;
			const [choice] = (JSON.parse(line.slice(6)) as { choices: readonly { delta: Delta }[] }).choices;
			const { delta } = choice ?? { delta: {} as Delta };
			content += delta.content ?? "";
			for (const { index, id, function: named } of delta.tool_calls ?? []) {
				calls[index] ??= { id: id ?? "", type: "function", function: { name: named?.name ?? "", arguments: "" } };
				calls[index].function.arguments += named?.arguments ?? "";
			}
		}
	}
	return { content, calls };
}
