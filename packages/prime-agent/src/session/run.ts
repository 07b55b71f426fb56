import type { AgentEvent, AgentMessage } from "@prime-agent/loop";
import { errorText } from "../lib/text.ts";
import type { Lane } from "../protocol/event.ts";
import { decide, type PlacedHook, type Verdict } from "./boundary.ts";
import type { Gate } from "./gate.ts";
import type { EntryDraft, SessionLog } from "./log.ts";
import type { Action, ActionContent, ActionOutcome, Queue } from "./queue.ts";
import { isRefusal, type Registry } from "./registry.ts";
import type { TurnOutcome } from "./turn.ts";

/** What runs need of their session. */
export interface RunParts {
	readonly log: SessionLog;
	readonly gate: Gate;
	readonly queue: Queue;
	readonly registry: Registry;
	/** Throws an error with a text for people when no turn can be taken, for example without a model. */
	readonly assertReady: () => void;
	/** Asks the model once; `opening` messages are the newest in the context. */
	readonly takeTurn: (opening: readonly AgentMessage[], signal: AbortSignal) => Promise<TurnOutcome>;
	/** The messages that entries are to the model. */
	readonly newestMessages: (count: number) => AgentMessage[];
	readonly emit: (event: AgentEvent) => void;
	readonly report: (feature: string, during: string, error: unknown) => void;
}

/** What the next turn begins with; without `resume` there is no turn unless something is said. */
interface Step {
	readonly lanes?: readonly Lane[];
	readonly content?: ActionContent;
	readonly resume: boolean;
}

/** One run: turns until idle. */
interface RunState {
	/** Actions that end with the run. */
	readonly open: Action[];
	/** Actions that end with the turn that saw them. */
	readonly steered: Action[];
	readonly messages: AgentMessage[];
	outcome: ActionOutcome;
	started: boolean;
}

const ALL_LANES: readonly Lane[] = ["steer", "followUp", "notice"];
const PASS: Verdict = { kind: "pass" };
const COMPLETED: ActionOutcome = { stage: "completed" };

/** Takes actions from the queue and runs turns until nothing is left to say. */
export class Runner {
	readonly #parts: RunParts;
	#pumping: Promise<void> | undefined;
	#isRunning = false;

	constructor(parts: RunParts) {
		this.#parts = parts;
	}

	/** Whether a run goes on or something waits for one. */
	get isBusy(): boolean {
		return this.#isRunning || this.#parts.queue.size > 0;
	}

	/** Starts to work if something waits. */
	wake(): void {
		if (this.#pumping || !this.#parts.queue.next()) return;
		this.#pumping = this.#pump().then(() => {
			this.#pumping = undefined;
			this.wake();
		});
	}

	/** Resolves when nothing runs and nothing waits. */
	async idle(): Promise<void> {
		while (this.#pumping) await this.#pumping;
	}

	/** The hooks in the order in which they are asked: what people queued comes before what features would like. */
	hooks(): PlacedHook[] {
		const deliver = (lanes: readonly Lane[]): Verdict =>
			this.#parts.queue.next(lanes) ? { kind: "deliver", lanes } : PASS;
		return [
			{ phase: "continue", feature: "session", run: () => deliver(["steer"]) },
			{
				phase: "continue",
				feature: "session",
				run: ({ runEnds }) => (runEnds ? deliver(["followUp", "notice"]) : PASS),
			},
			...this.#parts.registry.hooks,
		];
	}

	async #pump(): Promise<void> {
		while (this.#parts.queue.next()) await this.#run();
		await this.#parts.registry.tell("idle", {});
	}

	async #run(): Promise<void> {
		const run: RunState = { open: [], steered: [], messages: [], outcome: COMPLETED, started: false };
		try {
			let step: Step | undefined = { lanes: ALL_LANES, resume: false };
			while (step) {
				const current: Step = step;
				step = await this.#parts.gate.turn((signal) => this.#step(current, run, signal));
			}
			await this.#parts.log.sync();
		} catch (error) {
			// A failed write or a programming error: the run is over, and whoever waits for it is told.
			run.outcome = { stage: "failed", error: errorText(error) };
			this.#parts.report("session", "run", error);
		}
		if (run.started) {
			this.#parts.emit({ type: "agent_end", messages: run.messages });
			await this.#parts.registry.tell("run_end", { messages: run.messages });
		}
		this.#isRunning = false;
		this.#end([...run.steered, ...run.open], run.outcome);
	}

	async #step(step: Step, run: RunState, signal: AbortSignal): Promise<Step | undefined> {
		const action = step.lanes && this.#parts.queue.next(step.lanes);
		const content = action ? await this.#admit(action, run) : step.content;
		if (!content && !step.resume) return undefined;
		if (!run.started) {
			run.started = true;
			this.#isRunning = true;
			await this.#parts.registry.tell("run_start", {});
			this.#parts.emit({ type: "agent_start" });
		}
		const opening = content ? await this.#commit(content, action) : [];
		run.messages.push(...opening);
		const before = this.#parts.log.leafId;
		const turn = await this.#parts.takeTurn(opening, signal);
		this.#parts.log.beginSync();
		// Who waits for this turn is told only what is on disk; everybody else waits for the run.
		if (run.steered.length > 0) await this.#parts.log.settleSyncs();
		run.messages.push(turn.message, ...turn.toolResults);
		run.outcome = outcomeOf(turn, signal);
		this.#end(run.steered.splice(0), run.outcome);
		const next = await this.#next(turn, before, signal);
		// Stopped between two turns: the model had not finished, or would have been asked again.
		const isFinished = run.outcome === COMPLETED && turn.toolResults.length === 0;
		if (signal.aborted && !isFinished) run.outcome = { stage: "cancelled" };
		return next;
	}

	/** Takes an action and lets the gates see it; undefined when they refuse it. */
	async #admit(action: Action, run: RunState): Promise<ActionContent | undefined> {
		const { queue, registry } = this.#parts;
		queue.move(action, "selected");
		queue.move(action, "preparing");
		const { content } = action;
		try {
			this.#parts.assertReady();
			const isTyped = content.customType === undefined;
			const asked = { text: content.text, images: content.images ?? [] };
			const passed = isTyped ? await registry.pass("prompt", asked) : asked;
			if (isRefusal(passed)) {
				queue.move(action, "failed", passed.refuse);
				return undefined;
			}
			(run.started && action.lane === "steer" ? run.steered : run.open).push(action);
			return { ...content, ...passed };
		} catch (error) {
			queue.move(action, "failed", errorText(error));
			return undefined;
		}
	}

	/** Writes what is said; from here on it is durable. */
	async #commit(content: ActionContent, action: Action | undefined): Promise<AgentMessage[]> {
		const { queue, log } = this.#parts;
		if (action) queue.move(action, "committing");
		log.append([draftOf(content)]);
		await log.sync();
		if (action) queue.move(action, "running");
		return this.#parts.newestMessages(1);
	}

	async #next(turn: TurnOutcome, before: string | null, signal: AbortSignal): Promise<Step | undefined> {
		const { stage } = outcomeOf(turn, signal);
		const failed = stage !== "completed";
		const runEnds = failed || turn.terminate || turn.toolResults.length === 0;
		const seen = { message: turn.message, toolResults: turn.toolResults, failed, runEnds, signal };
		const verdict = await decide(this.hooks(), seen, (feature, error) =>
			this.#parts.report(feature, "boundary", error),
		);
		if (signal.aborted) return undefined;
		switch (verdict.kind) {
			case "stop":
				return undefined;
			case "prompt":
				return { content: verdict.content, resume: true };
			case "again":
				if (verdict.dropReply) this.#parts.log.moveTo(before);
				verdict.first?.();
				return { resume: true };
			case "deliver":
				return { lanes: verdict.lanes, resume: !runEnds };
			case "pass":
				return runEnds ? undefined : { resume: true };
		}
	}

	#end(actions: readonly Action[], outcome: ActionOutcome): void {
		for (const action of actions) {
			// A write that failed leaves an action before `running`, where it can only fail.
			const stage = action.stage === "running" ? outcome.stage : "failed";
			this.#parts.queue.move(action, stage, outcome.error);
		}
	}
}

function outcomeOf(turn: TurnOutcome, signal: AbortSignal): ActionOutcome {
	const { stopReason, errorMessage } = turn.message;
	if (signal.aborted || stopReason === "aborted") return { stage: "cancelled" };
	if (stopReason === "error") return { stage: "failed", error: errorMessage ?? "The model failed without a message." };
	return COMPLETED;
}

function draftOf(content: ActionContent): EntryDraft {
	const { text, images = [], customType, display = true, details } = content;
	if (customType !== undefined) {
		return {
			type: "custom_message",
			customType,
			content: text,
			display,
			...(details === undefined ? {} : { details }),
		};
	}
	const body = images.length === 0 ? text : [{ type: "text", text }, ...images];
	return { type: "message", message: { role: "user", content: body, timestamp: Date.now() } };
}
