import type { Connection } from "../connection/connection.ts";
import { describeGoal, type PublicGoal } from "../features/goal/state.ts";
import { errorText } from "../lib/text.ts";
import type { SessionEvent } from "../protocol/event.ts";
import { abortRun, sendPrompt } from "../protocol/session-operations.ts";

/** What a run without a person at the screen is given. */
export interface HeadlessPrompt {
	readonly text: string;
	/** As models take them; `data` is base64. */
	readonly images: readonly { readonly type: "image"; readonly data: string; readonly mimeType: string }[];
}

/** How such a run ended. */
export interface HeadlessOutcome {
	/** Text of the last reply; empty when that failed. */
	readonly answer: string;
	/** What a command says, where the prompt was one. */
	readonly said: string | undefined;
	/** Why the run counts as failed, in words for people; undefined for success. */
	readonly failure: string | undefined;
}

/**
 * Sends a prompt and waits until the run that it starts is over. Every event passes `onEvent`. When `signal` aborts,
 * the run is stopped and counts as failed; so does a run that leaves the goal it worked on unreached. Never rejects.
 */
export async function runHeadless(
	connection: Connection,
	prompt: HeadlessPrompt,
	onEvent: (event: SessionEvent) => void,
	signal: AbortSignal,
): Promise<HeadlessOutcome> {
	let last: AssistantReply | undefined;
	let goal: PublicGoal | null = null;
	const unsubscribe = connection.subscribe((event) => {
		if (event.type === "feature_event" && event.name === "goal_update") goal = event.data.goal as PublicGoal | null;
		if (event.type === "message_end" && isReply(event.message)) last = event.message;
		onEvent(event);
	});
	// A command that only changes a goal starts no run and has no reply.
	const withGoal = (failure: string | undefined) => (last ? addGoal(failure, goal) : failure);
	const stop = () => {
		// The run ends by itself soon after; its own failure is what counts.
		connection.call(abortRun, {}).catch((error: unknown) => onEvent(warning(`Stopping: ${errorText(error)}`)));
	};
	signal.addEventListener("abort", stop, { once: true });
	try {
		const images = prompt.images.length > 0 ? { images: prompt.images.map((image) => ({ ...image })) } : {};
		signal.throwIfAborted();
		const result = await connection.call(sendPrompt, { text: prompt.text, ...images, until: "done" });
		return { answer: answerOf(last), said: result.said, failure: withGoal(describeFailure(signal, last, result)) };
	} catch (error) {
		const failure = signal.aborted ? stopReason(signal) : errorText(error);
		return { answer: answerOf(last), said: undefined, failure: withGoal(failure) };
	} finally {
		signal.removeEventListener("abort", stop);
		unsubscribe();
	}
}

type AgentMessage = Extract<SessionEvent, { type: "message_end" }>["message"];

type AssistantReply = Extract<AgentMessage, { role: "assistant" }>;

function isReply(message: AgentMessage): message is AssistantReply {
	return message.role === "assistant";
}

function warning(text: string): SessionEvent {
	return { type: "notice", level: "warning", text };
}

/** A reply that failed is no answer, whatever had arrived of it; the session keeps that. */
function answerOf(reply: AssistantReply | undefined): string {
	if (reply?.stopReason === "error" || reply?.stopReason === "aborted") return "";
	const texts = reply?.content.map((block) => (block.type === "text" ? block.text : "")) ?? [];
	return texts.join("");
}

function stopReason(signal: AbortSignal): string {
	return errorText(signal.reason);
}

function describeFailure(
	signal: AbortSignal,
	reply: AssistantReply | undefined,
	result: { stage: string; error?: string },
): string | undefined {
	if (signal.aborted) return stopReason(signal);
	if (reply?.stopReason === "error") return reply.errorMessage || "The model gave no answer and no reason.";
	if (reply?.stopReason === "aborted") return reply.errorMessage || "The run was stopped.";
	if (result.error !== undefined) return result.error;
	if (result.stage !== "completed") return `The prompt was not worked on: it is ${result.stage}.`;
	if (reply?.stopReason === "length") return "The answer is cut: the model reached its limit of output tokens.";
	return undefined;
}

/** A run that worked on a goal has reached it or tells how it stands. */
function addGoal(failure: string | undefined, goal: PublicGoal | null): string | undefined {
	if (!goal || goal.status === "complete") return failure;
	return [failure ?? "The goal is not reached.", describeGoal(goal)].join("\n");
}
