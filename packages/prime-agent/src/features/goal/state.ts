import type { Usage } from "@earendil-works/pi-ai";
import type { CustomEntry, Entry } from "../../protocol/entry.ts";

/** Type of the entries that hold the goal; the newest on the branch counts. */
export const GOAL_ENTRY = "thread_goal_state";

/** Turns in a row that may pass without a tool call before an active goal is paused. */
const IDLE_TURNS = 3;

/** Reason of a goal whose budget is used up while the model has not been told yet. */
export const WRAP_UP_DUE = "wrap_up_due";

/** A durable objective that the session pursues until it is complete, stopped or out of budget. */
export interface Goal {
	readonly objective: string;
	readonly status: "active" | "paused" | "budget_limited" | "complete" | "error";
	readonly tokenBudget: number | null;
	readonly tokensUsed: number;
	readonly secondsUsed: number;
	/** Turns in a row in which the model called no tool. */
	readonly idleTurns: number;
	readonly reason: string | null;
	/** ISO 8601, UTC. */
	readonly createdAt: string;
	readonly updatedAt: string;
}

/** The goal after an entry; an entry without a goal clears it. */
export function reduceGoal(goal: Goal | undefined, entry: Entry): Goal | undefined {
	const { customType, data } = entry as CustomEntry & Entry;
	if (customType !== GOAL_ENTRY) return goal;
	return (data as { readonly goal: Goal | null }).goal ?? undefined;
}

/** Whether a new goal may take the place of this one. */
export function isReplaceable(goal: Goal | undefined): boolean {
	return goal === undefined || goal.status === "complete" || goal.status === "error";
}

/** What one reply costs a goal: cache reads are free. */
export function tokensOf(usage: Usage): number {
	return usage.input + usage.output + usage.cacheWrite;
}

/** One turn of an active goal: its cost, and whether the model did anything. */
export interface GoalTurn {
	readonly tokens: number;
	readonly seconds: number;
	/** Undefined after a failed turn, which says nothing about progress. */
	readonly usedTools: boolean | undefined;
	readonly at: string;
}

/** The goal after a turn: out of budget, paused for want of progress, or simply further on. */
export function accountTurn(goal: Goal, turn: GoalTurn): Goal {
	const tokensUsed = goal.tokensUsed + turn.tokens;
	const idleTurns = turn.usedTools === undefined ? goal.idleTurns : turn.usedTools ? 0 : goal.idleTurns + 1;
	const next = {
		...goal,
		tokensUsed,
		secondsUsed: goal.secondsUsed + turn.seconds,
		idleTurns,
		updatedAt: turn.at,
	};
	if (goal.tokenBudget !== null && tokensUsed >= goal.tokenBudget) {
		return { ...next, status: "budget_limited", reason: WRAP_UP_DUE };
	}
	if (idleTurns >= IDLE_TURNS) return { ...next, status: "paused", reason: "no_progress" };
	return next;
}

/** Tokens that are left; null without a budget. */
export function remainingTokens(goal: Goal | undefined): number | null {
	if (!goal || goal.tokenBudget === null) return null;
	return Math.max(0, goal.tokenBudget - goal.tokensUsed);
}

/** A goal under the names that the kernel and clients know. */
export interface PublicGoal {
	readonly objective: string;
	readonly status: Goal["status"];
	readonly token_budget: number | null;
	readonly tokens_used: number;
	readonly time_used_seconds: number;
	readonly reason: string | null;
	readonly created_at: string;
	readonly updated_at: string;
}

/** The goal as the kernel and clients get it. */
export function publicGoal(goal: Goal): PublicGoal {
	return {
		objective: goal.objective,
		status: goal.status,
		token_budget: goal.tokenBudget,
		tokens_used: goal.tokensUsed,
		time_used_seconds: goal.secondsUsed,
		reason: goal.reason,
		created_at: goal.createdAt,
		updated_at: goal.updatedAt,
	};
}

/** How a goal stands, in two lines for people. */
export function describeGoal(goal: PublicGoal): string {
	const budget = goal.token_budget === null ? "" : ` of ${goal.token_budget}`;
	const reason = goal.reason === null ? "" : ` (${goal.reason})`;
	return `Goal ${goal.status}${reason}: ${goal.objective}\nTokens used: ${goal.tokens_used}${budget}. Time used: ${goal.time_used_seconds} s.`;
}
