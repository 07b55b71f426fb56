import type { ImageContent } from "@earendil-works/pi-ai";
import type { ActionStage, Lane, SessionActionSnapshot } from "../protocol/event.ts";

/** The legal moves of an action; everything else is a programming error. */
const MOVES: Readonly<Record<ActionStage, readonly ActionStage[]>> = {
	queued: ["selected", "cancelled"],
	// Back to queued: it was taken, and something else came first before anything durable happened.
	selected: ["preparing", "queued", "cancelled"],
	preparing: ["committing", "failed", "cancelled"],
	committing: ["running", "failed"],
	running: ["completed", "failed", "cancelled"],
	completed: [],
	failed: [],
	cancelled: [],
};

/** An action was asked to make a move that its stage does not allow. */
export class IllegalMoveError extends Error {
	override name = "IllegalMoveError";
}

/** How an action ended; `error` says why it failed. */
export interface ActionOutcome {
	readonly stage: "completed" | "failed" | "cancelled";
	readonly error?: string;
}

/** What is to be said to the model. */
export interface ActionContent {
	readonly text: string;
	readonly images?: readonly ImageContent[];
	/** Set when a feature speaks: the entry is a `custom_message` of this type. */
	readonly customType?: string;
	/** Whether people see a feature's message; default true. */
	readonly display?: boolean;
	readonly details?: unknown;
}

/** One thing that waits to be said, and how far it has come. */
export interface Action {
	readonly id: number;
	readonly lane: Lane;
	readonly key: string | undefined;
	readonly content: ActionContent;
	readonly stage: ActionStage;
	/** Resolves when the action has ended; each action ends once. */
	readonly ended: Promise<ActionOutcome>;
}

interface Held extends Action {
	content: ActionContent;
	stage: ActionStage;
	readonly end: (outcome: ActionOutcome) => void;
}

/** The order in which lanes are served when several wait. */
const LANES: readonly Lane[] = ["steer", "followUp", "notice"];

/** What waits to be said to the model, in lanes; within a lane first come, first served. */
export class Queue {
	readonly #held: Held[] = [];
	readonly #changed: () => void;
	#ids = 0;

	/** `changed` is called after every addition and move. */
	constructor(changed: () => void = () => undefined) {
		this.#changed = changed;
	}

	/** Queues content; with a key, content that still waits under the same key and lane is replaced. */
	add(lane: Lane, content: ActionContent, key?: string): Action {
		const same =
			key === undefined ? undefined : this.#held.find((a) => a.key === key && a.lane === lane && a.stage === "queued");
		if (same) {
			same.content = content;
			this.#changed();
			return same;
		}
		const { promise, resolve } = Promise.withResolvers<ActionOutcome>();
		const action: Held = { id: ++this.#ids, lane, key, content, stage: "queued", ended: promise, end: resolve };
		this.#held.push(action);
		this.#changed();
		return action;
	}

	/** The first action that waits in one of the lanes. */
	next(lanes: readonly Lane[] = LANES): Action | undefined {
		for (const lane of lanes) {
			const found = this.#held.find((action) => action.lane === lane && action.stage === "queued");
			if (found) return found;
		}
		return undefined;
	}

	/**
	 * Moves an action on; at an end stage it leaves the queue and its `ended` resolves.
	 * @throws {IllegalMoveError} when its stage does not allow the move.
	 */
	move(action: Action, to: ActionStage, error?: string): void {
		if (!MOVES[action.stage].includes(to)) throw new IllegalMoveError(`${action.stage} -> ${to}`);
		const held = action as Held;
		held.stage = to;
		if (to === "completed" || to === "failed" || to === "cancelled") {
			this.#held.splice(this.#held.indexOf(held), 1);
			held.end({ stage: to, ...(error === undefined ? {} : { error }) });
		}
		this.#changed();
	}

	/** Cancels everything that waits and returns what people had typed, in order. */
	cancelWaiting(): string[] {
		const waiting = this.#held.filter((action) => action.stage === "queued");
		for (const action of waiting) this.move(action, "cancelled");
		return waiting.filter((action) => action.content.customType === undefined).map((action) => action.content.text);
	}

	/** Actions that have not ended. */
	get size(): number {
		return this.#held.length;
	}

	/** What people see of the queue. */
	snapshot(): SessionActionSnapshot {
		const waiting = this.#held.filter((action) => action.stage === "queued");
		const texts = (lane: Lane) => waiting.filter((a) => a.lane === lane).map((a) => a.content.text);
		const active = this.#held.find((action) => action.stage !== "queued");
		return {
			queuedCount: waiting.length,
			steering: texts("steer"),
			followUps: texts("followUp"),
			...(active ? { active: { kind: "turn", phase: active.stage } } : {}),
		};
	}
}
