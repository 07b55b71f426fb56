import type { AgentLoopConfig, AgentMessage, RetrySettings } from "@prime-agent/loop";
import type { ModelAccess } from "../profiles/access.ts";
import { shapePayload } from "./payload.ts";
import type { SessionSettings } from "./settings.ts";

/** A command that is told to stop gets two seconds before it is killed. */
const abortGraceMs = 3000;

type ModelMessage = Awaited<ReturnType<AgentLoopConfig["convertToLlm"]>>[number];

/** Messages of other kinds, which an embedding program may declare, are not for models. */
function isSendable(message: AgentMessage): message is ModelMessage {
	return message.role === "assistant" || message.role === "user" || message.role === "toolResult";
}

/** OpenAI's formats have no mark for a failed call, so its text says it. */
function tellFailure(message: ModelMessage): ModelMessage {
	if (message.role !== "toolResult" || !message.isError) return message;
	return { ...message, content: [{ type: "text", text: "[the call failed]" }, ...message.content] };
}

const cachingBeta = "prompt-caching-2024-07-31";
const interleavedBeta = "interleaved-thinking-2025-05-14";

/**
 * The beta features of an Anthropic request, each once. A header that is given replaces the library's own, which names
 * thinking between tool calls for models with a budget of thinking tokens.
 */
function listBetas({ model, headers }: ModelAccess, { cachePrompts }: SessionSettings, thinks: boolean): string {
	const hasBudget = thinks && model.reasoning && model.thinkingLevelMap === undefined;
	const given = (headers["anthropic-beta"] ?? "").split(",").map((name) => name.trim());
	const own = [...(cachePrompts ? [cachingBeta] : []), ...(hasBudget ? [interleavedBeta] : [])];
	return [...new Set([...given, ...own])].filter((name) => name !== "").join(",");
}

function chooseHeaders(access: ModelAccess, settings: SessionSettings, thinks: boolean): Record<string, string> {
	const betas = access.model.api === "anthropic-messages" ? listBetas(access, settings, thinks) : "";
	return betas === "" ? access.headers : { ...access.headers, "anthropic-beta": betas };
}

/** How the loop asks the model of a session. */
export function createLoopConfig(access: ModelAccess, settings: SessionSettings, sessionId: string): AgentLoopConfig {
	const { model, apiKey } = access;
	const effort = settings.reasoningEffort;
	const thinks = effort !== undefined && effort !== "off";
	return {
		model,
		apiKey,
		headers: chooseHeaders(access, settings, thinks),
		sessionId,
		maxTokens: model.maxTokens,
		abortGraceMs,
		// The whole conversation goes with every request, so that nothing depends on what a server remembers.
		disableContinuation: true,
		identity: { userAgent: { custom: "agent" }, attribution: null },
		...(thinks ? { reasoning: effort } : {}),
		...(settings.cachePrompts ? {} : { cacheRetention: "none" as const }),
		onPayload: shapePayload,
		convertToLlm: (messages) => {
			const sent = messages.filter(isSendable);
			return model.api.startsWith("openai-") ? sent.map(tellFailure) : sent;
		},
	};
}

const longestWaitMs = 60_000;

/** How often and how long a session waits for a model that fails. */
export function createRetrySettings({ maxRetries, retryBaseMs }: SessionSettings): RetrySettings {
	return {
		maxRetries,
		baseDelayMs: retryBaseMs,
		maxRetryDelayMs: longestWaitMs,
		maxBackoffMs: longestWaitMs,
		jitter: () => 0.5 + Math.random(),
	};
}
