import type { AgentMessage } from "@prime-agent/loop";

const charactersPerToken = 4;
const stepPercent = 5;

function countCharacters(message: AgentMessage): number {
	const { content } = message as { content?: unknown };
	if (typeof content === "string") return content.length;
	if (!Array.isArray(content)) return 0;
	let sum = 0;
	for (const part of content) sum += part.type === "image" ? 0 : JSON.stringify(part).length;
	return sum;
}

/** Says when the context window fills up; it changes nothing. */
export class ContextWatch {
	readonly #window: number;
	readonly #ratio: number;
	#lastStep = 0;

	/** Warns from `ratio` of `window` tokens on. */
	constructor(window: number, ratio: number) {
		this.#window = window;
		this.#ratio = ratio;
	}

	/** A warning when the estimate has passed the limit or a further five percent since the last one. */
	check(systemPrompt: string, messages: readonly AgentMessage[]): string | undefined {
		const percent = (estimateTokens(systemPrompt, messages) / this.#window) * 100;
		const step = Math.floor(percent / stepPercent) + 1;
		if (percent <= this.#ratio * 100 || step <= this.#lastStep) return undefined;
		this.#lastStep = step;
		return `The context window is about ${Math.floor(percent)} % full (${this.#window} tokens).`;
	}
}

/** Tokens of the next request: what the last reply reported, and a quarter of the characters that came since. */
function estimateTokens(systemPrompt: string, messages: readonly AgentMessage[]): number {
	let tokens = 0;
	let characters = systemPrompt.length;
	for (const message of messages) {
		const reported = message.role === "assistant" ? message.usage : undefined;
		const total = reported ? reported.input + reported.cacheRead + reported.cacheWrite + reported.output : 0;
		if (total > 0) {
			tokens = total;
			characters = 0;
		} else characters += countCharacters(message);
	}
	return tokens + characters / charactersPerToken;
}
