import type { AgentLoopConfig, AgentMessage, RetrySettings } from "@prime-agent/loop";
import type { ModelAccess } from "../profiles/access.ts";
import type { SessionSettings } from "./settings.ts";

/** A command that is told to stop gets two seconds before it is killed. */
const abortGraceMs = 3000;

type ModelMessage = Awaited<ReturnType<AgentLoopConfig["convertToLlm"]>>[number];

/** Messages of other kinds, which an embedding program may declare, are not for models. */
function isSendable(message: AgentMessage): message is ModelMessage {
	return message.role === "assistant" || message.role === "user" || message.role === "toolResult";
}

/**
 * Nothing is stored at the server, so the reasoning of OpenAI's models has to come along encrypted to be sent back; the
 * library asks for it only together with an effort.
 */
function askForReasoning(payload: unknown, model: ModelAccess["model"]): unknown {
	if (model.api !== "openai-responses" || !model.reasoning) return undefined;
	return { ...(payload as object), include: ["reasoning.encrypted_content"] };
}

/** How the loop asks the model of a session. */
export function createLoopConfig(access: ModelAccess, settings: SessionSettings, sessionId: string): AgentLoopConfig {
	const { model, apiKey, headers } = access;
	const effort = settings.reasoningEffort;
	return {
		model,
		apiKey,
		headers,
		sessionId,
		maxTokens: model.maxTokens,
		abortGraceMs,
		// The whole conversation goes with every request, so that nothing depends on what a server remembers.
		disableContinuation: true,
		identity: { userAgent: { custom: "agent" }, attribution: null },
		...(effort === undefined || effort === "off" ? {} : { reasoning: effort }),
		onPayload: askForReasoning,
		convertToLlm: (messages) => messages.filter(isSendable),
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
