import type { Api, AssistantMessage, Model, Usage } from "@earendil-works/pi-ai";
import { normalizeContext } from "@earendil-works/pi-ai/utils/transcript";
import { classifyFailure, isContextOverflow, retryDelay, type StreamFn } from "@prime-agent/loop";
import type { ClockPort } from "../../session/ports.ts";
import type { RetryPolicy } from "../retry/state.ts";
import { SUMMARY_PROMPT } from "./texts.ts";

/** What asking for a summary needs. */
export interface SummaryJob {
	readonly model: Model<Api>;
	readonly stream: StreamFn;
	readonly clock: ClockPort;
	readonly policy: RetryPolicy;
	readonly overflowPatterns: readonly RegExp[];
	/** Most tokens of the summary. */
	readonly maxTokens: number;
	/** The message that asks, with a conversation of at most this many characters. */
	readonly ask: (characters: number) => string;
	/** Characters of the conversation to begin with; halved when the request turns out too long. */
	readonly characters: number;
	readonly signal: AbortSignal;
}

/** How asking ended; what it cost counts either way. */
export type SummaryOutcome = { readonly usage: Usage | undefined } & (
	| { readonly kind: "done"; readonly notes: string }
	| { readonly kind: "failed"; readonly error: string }
	| { readonly kind: "aborted" }
);

/** Times that a request which is too long is halved. */
const HALVINGS = 3;

/** Asks the model for notes of a conversation, without tools; waits and asks again where that may help. */
export async function requestSummary(job: SummaryJob): Promise<SummaryOutcome> {
	let usage: Usage | undefined;
	let { characters } = job;
	let halvings = 0;
	let retries = 0;
	for (;;) {
		const message = await ask(job, characters);
		usage = addUsage(usage, message.usage);
		if (job.signal.aborted || message.stopReason === "aborted") return { kind: "aborted", usage };
		const notes = textOf(message).trim();
		if (message.stopReason !== "error" && notes !== "") return { kind: "done", notes, usage };
		const error = message.errorMessage ?? "The model gave no summary.";
		if (isContextOverflow(message, job.model.contextWindow, job.overflowPatterns)) {
			if (++halvings > HALVINGS) return { kind: "failed", error, usage };
			characters = Math.floor(characters / 2);
			continue;
		}
		const failure = classifyFailure(message);
		const delayMs = failure && job.policy.enabled ? retryDelay(failure, ++retries, job.policy) : undefined;
		if (delayMs === undefined) return { kind: "failed", error, usage };
		try {
			await job.clock.sleep(delayMs, job.signal);
		} catch (reason) {
			if (!job.signal.aborted) throw reason;
			return { kind: "aborted", usage };
		}
	}
}

async function ask(job: SummaryJob, characters: number): Promise<AssistantMessage> {
	const content = job.ask(characters);
	const context = normalizeContext({
		systemPrompt: SUMMARY_PROMPT,
		messages: [{ role: "user", content, timestamp: job.clock.now() }],
	});
	const stream = await job.stream(job.model, context, {
		signal: job.signal,
		maxTokens: job.maxTokens,
		// Nobody sends this prefix again: a cache would only cost.
		cacheRetention: "none",
	});
	return stream.result();
}

function textOf({ content }: AssistantMessage): string {
	return content.map((block) => (block.type === "text" ? block.text : "")).join("");
}

function addUsage(sum: Usage | undefined, usage: Usage): Usage {
	if (!sum) return usage;
	return {
		input: sum.input + usage.input,
		output: sum.output + usage.output,
		cacheRead: sum.cacheRead + usage.cacheRead,
		cacheWrite: sum.cacheWrite + usage.cacheWrite,
		totalTokens: sum.totalTokens + usage.totalTokens,
		cost: {
			input: sum.cost.input + usage.cost.input,
			output: sum.cost.output + usage.cost.output,
			cacheRead: sum.cost.cacheRead + usage.cost.cacheRead,
			cacheWrite: sum.cost.cacheWrite + usage.cost.cacheWrite,
			total: sum.cost.total + usage.cost.total,
		},
	};
}
