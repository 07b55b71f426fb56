import type { Api, Model, Usage } from "@earendil-works/pi-ai";
import { errorText } from "../../lib/text.ts";
import { AgentError } from "../../protocol/errors.ts";
import type { FeatureHost } from "../../session/host.ts";
import { CLOCK, MODEL, SETTINGS } from "../../session/ports.ts";
import { isRefusal } from "../../session/registry.ts";
import { getGoal } from "../goal/operations.ts";
import { readRetryPolicy } from "../retry/state.ts";
import { collectFiles, type FileList, readFileList } from "./files.ts";
import { type CompactionPlan, type CompactionReason, planCompaction } from "./plan.ts";
import { serialize } from "./serialize.ts";
import { type CompactionLimits, REQUEST_ENTRY, readLimits, readOverflowPatterns } from "./state.ts";
import { requestSummary, type SummaryOutcome } from "./summary.ts";
import { askForSummary, composeSummary } from "./texts.ts";

/** What a compaction wrote. */
export interface CompactionResult {
	readonly summary: string;
	readonly firstKeptEntryId: string;
	readonly tokensBefore: number;
	readonly details: FileList;
}

/** How a compaction ended; `write` puts it into the log, which is where it takes effect. */
export type CompactionOutcome =
	| { readonly kind: "ready"; readonly write: () => CompactionResult }
	| { readonly kind: "nothing" }
	| { readonly kind: "refused"; readonly reason: string }
	| { readonly kind: "failed"; readonly error: string }
	| { readonly kind: "aborted" };

/** What people and the model are told where nothing can be summarised. */
export const NOTHING = "There is nothing to compact yet.";

/** Why an outcome changed nothing, in words for people. */
export function explainOutcome(outcome: Exclude<CompactionOutcome, { kind: "ready" | "aborted" }>): string {
	switch (outcome.kind) {
		case "refused":
			return `The conversation was not compacted: ${outcome.reason}`;
		case "failed":
			return `The conversation could not be compacted: ${outcome.error}`;
		case "nothing":
			return NOTHING;
	}
}

/** What is asked for. */
export interface CompactionTask {
	readonly reason: CompactionReason;
	readonly instructions: string | undefined;
	readonly signal: AbortSignal;
}

/** Characters of conversation to each token that the summary's request may have: few, because counts are guesses. */
const CHARACTERS_PER_TOKEN = 1.8;
/** Less than this is no conversation. */
const FEWEST_CHARACTERS = 2_000;
/** Share of the reserve that the summary may take; the rest is for what the program adds. */
const SUMMARY_SHARE = 0.8;

/** Makes summaries of the current branch and writes them. Tells clients when it starts and how it ended. */
export class Compactor<State> {
	readonly #host: FeatureHost<State>;

	constructor(host: FeatureHost<State>) {
		this.#host = host;
	}

	get model(): Model<Api> | undefined {
		return this.#host.port(MODEL).current();
	}

	/** The limits for the model in use; without one, nothing is compacted by itself. */
	get limits(): CompactionLimits {
		return readLimits((path) => this.#host.port(SETTINGS).get(path), this.model?.contextWindow ?? 0);
	}

	get overflowPatterns(): ReturnType<typeof readOverflowPatterns> {
		return readOverflowPatterns(this.#host.port(SETTINGS).get("compaction.overflowPatterns"));
	}

	/** Whether there is something to summarise. */
	canCompact(reason: CompactionReason): boolean {
		return planCompaction(this.#host, reason, this.limits) !== undefined;
	}

	/** Makes a summary; the log stays as it is until the outcome's `write` is called. Never rejects. */
	async run(task: CompactionTask): Promise<CompactionOutcome> {
		const { model } = this;
		if (!model) return { kind: "refused", reason: "No model is chosen that could write the summary." };
		const plan = planCompaction(this.#host, task.reason, this.limits);
		if (!plan) return { kind: "nothing" };
		const passed = await this.#host.pass("compact", { instructions: task.instructions });
		if (isRefusal(passed)) return { kind: "refused", reason: passed.refuse };
		const { instructions } = passed;
		this.#host.emit("compaction_start", { reason: task.reason });
		let outcome: SummaryOutcome;
		try {
			outcome = await this.#summarise(model, plan, instructions, task.signal);
		} catch (error) {
			outcome = { kind: "failed", error: errorText(error), usage: undefined };
		}
		const { usage } = outcome;
		if (outcome.kind === "aborted") {
			this.#tellEnd(task.reason, { aborted: true, usage });
			return { kind: "aborted" };
		}
		if (outcome.kind === "failed") {
			this.#tellEnd(task.reason, { error: outcome.error, usage });
			return { kind: "failed", error: outcome.error };
		}
		const details = collectFiles(
			readFileList(plan.last?.details),
			plan.cut.summarised.map(({ message }) => message),
		);
		const verbatim = { request: plan.request, goal: await this.#findGoal(), files: details };
		const summary = composeSummary(outcome.notes, verbatim);
		return { kind: "ready", write: () => this.#write(task.reason, plan, { summary, details, instructions, usage }) };
	}

	#summarise(
		model: Model<Api>,
		{ cut, last }: CompactionPlan,
		instructions: string | undefined,
		signal: AbortSignal,
	): Promise<SummaryOutcome> {
		const settings = this.#host.port(SETTINGS);
		const { threshold, reserve } = this.limits;
		const previous = last?.summary;
		const messages = cut.summarised.map(({ message }) => message);
		const room = threshold * CHARACTERS_PER_TOKEN - (previous?.length ?? 0);
		return requestSummary({
			model,
			stream: this.#host.port(MODEL).stream,
			clock: this.#host.port(CLOCK),
			policy: readRetryPolicy((path) => settings.get(path)),
			overflowPatterns: this.overflowPatterns.usable,
			maxTokens: Math.max(1, Math.min(model.maxTokens, Math.floor(reserve * SUMMARY_SHARE))),
			ask: (characters) => askForSummary({ conversation: serialize(messages, characters), previous, instructions }),
			characters: Math.max(FEWEST_CHARACTERS, Math.floor(room)),
			signal,
		});
	}

	/** The goal that is pursued, where sessions have goals. */
	async #findGoal(): Promise<string | undefined> {
		try {
			const { goal } = await this.#host.call(getGoal, {});
			return goal && goal.status !== "complete" ? goal.objective : undefined;
		} catch (error) {
			if (error instanceof AgentError && error.code === "unknown_operation") return undefined;
			throw error;
		}
	}

	#write(
		reason: CompactionReason,
		{ cut, tokensBefore }: CompactionPlan,
		made: { summary: string; details: FileList; instructions: string | undefined; usage: Usage | undefined },
	): CompactionResult {
		const { summary, details, instructions, usage } = made;
		try {
			// Where no message stays, the context begins with an entry that is none.
			const firstKeptEntryId = cut.kept[0]?.id ?? this.#host.append(REQUEST_ENTRY, { request: null }).id;
			const result = { summary, firstKeptEntryId, tokensBefore, details };
			this.#host.write({
				type: "compaction",
				...result,
				...(instructions === undefined ? {} : { customInstructions: instructions }),
				...(usage === undefined ? {} : { usage }),
			});
			this.#tellEnd(reason, { result, usage });
			return result;
		} catch (error) {
			this.#tellEnd(reason, { error: errorText(error), usage });
			throw error;
		}
	}

	#tellEnd(
		reason: CompactionReason,
		{
			result,
			aborted = false,
			error,
			usage,
		}: {
			readonly result?: CompactionResult;
			readonly aborted?: boolean;
			readonly error?: string;
			readonly usage: Usage | undefined;
		},
	): void {
		this.#host.emit("compaction_end", {
			reason,
			aborted,
			willRetry: reason === "overflow" && result !== undefined,
			severity: error === undefined ? "info" : "warning",
			...(result === undefined ? {} : { result }),
			...(error === undefined ? {} : { errorMessage: error }),
			...(usage === undefined ? {} : { usage }),
		});
	}
}
