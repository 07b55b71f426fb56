import type { AgentMessage } from "@prime-agent/loop";
import { cutMiddle } from "../../lib/text.ts";

/** Most characters of one part that a summary needs to see: what people say counts more than what tools print. */
const LIMITS = { said: 8_000, call: 2_000, result: 2_000 };

/**
 * Writes messages as plain text for a summary, at most `limit` characters long: long parts and then the whole are cut
 * in the middle, so that how it began and where it stands remain. Thinking and images are left out.
 */
export function serialize(messages: readonly AgentMessage[], limit: number): string {
	return cutMiddle(messages.flatMap(describe).join("\n\n"), limit);
}

function describe(message: AgentMessage): string[] {
	if (message.role === "user") return [`[user]\n${cutMiddle(textOf(message.content), LIMITS.said)}`];
	if (message.role === "toolResult") {
		const status = message.isError ? "failed result" : "result";
		return [`[${status}]\n${cutMiddle(textOf(message.content), LIMITS.result)}`];
	}
	if (message.role !== "assistant") return [];
	const isBroken = message.stopReason === "error" || message.stopReason === "aborted";
	return message.content.flatMap((block) => {
		if (block.type === "text") return block.text ? [`[agent]\n${cutMiddle(block.text, LIMITS.said)}`] : [];
		// The calls of a broken reply never ran.
		if (block.type !== "toolCall" || isBroken) return [];
		return [`[agent calls ${block.name}]\n${cutMiddle(describeArguments(block.arguments), LIMITS.call)}`];
	});
}

function describeArguments(args: Readonly<Record<string, unknown>>): string {
	const { code, ...others } = args;
	return typeof code === "string" && Object.keys(others).length === 0 ? code : JSON.stringify(args);
}

function textOf(content: string | readonly { readonly type: string; readonly text?: string }[]): string {
	if (typeof content === "string") return content;
	return content.map((block) => block.text ?? `[${block.type}]`).join("\n");
}
