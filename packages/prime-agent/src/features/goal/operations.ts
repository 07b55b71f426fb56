import { int, nullable, obj, oneOf, opt, str } from "@earendil-works/pi-schema";
import { defineOperation } from "../../protocol/operation.ts";

/** Longest objective, in characters. */
export const MAX_OBJECTIVE = 4000;

const Goal = obj({
	objective: str(),
	status: oneOf(["active", "paused", "budget_limited", "complete", "error"]),
	token_budget: nullable(int()),
	tokens_used: int(),
	time_used_seconds: int(),
	/** Why the goal is paused or in error, where there is more to say. */
	reason: nullable(str()),
	created_at: str(),
	updated_at: str(),
});

const Answer = obj({
	goal: nullable(Goal),
	/** Null without a budget. */
	remaining_tokens: nullable(int()),
	/** What completing the goal cost; null otherwise. */
	completion_budget_report: nullable(str()),
});

/** The goal as it stands; null when there is none. */
export const getGoal = defineOperation({
	name: "goal.get",
	doors: ["client", "kernel", "feature"],
	scope: "session",
	effect: "read",
	params: obj({}),
	result: Answer,
	names: { kernel: "goal.get" },
});

/** Sets a goal; refused while another one is active, paused or out of budget. */
export const createGoal = defineOperation({
	name: "goal.create",
	doors: ["client", "kernel"],
	scope: "session",
	effect: "once",
	params: obj({ objective: str(), token_budget: opt(nullable(int())) }),
	result: Answer,
	names: { kernel: "goal.create" },
});

/** Says that the objective is reached; only the model can know. */
export const completeGoal = defineOperation({
	name: "goal.complete",
	doors: ["kernel"],
	scope: "session",
	effect: "once",
	params: obj({}),
	result: Answer,
	names: { kernel: "goal.complete" },
});

/** Stops, resumes or forgets the goal; only people do that. */
export const changeGoal = defineOperation({
	name: "goal.change",
	doors: ["client"],
	scope: "session",
	effect: "idempotent",
	params: obj({ to: oneOf(["paused", "active", "cleared"]) }),
	result: Answer,
	names: { slash: "goal" },
});
