import { AgentError } from "../../protocol/errors.ts";
import { defineFeature, type FeatureHost } from "../../session/host.ts";
import { CLOCK } from "../../session/ports.ts";
import { parseGoalCommand } from "./command.ts";
import { changeGoal, completeGoal, createGoal, getGoal, MAX_OBJECTIVE } from "./operations.ts";
import {
	accountTurn,
	GOAL_ENTRY,
	type Goal,
	isReplaceable,
	reduceGoal,
	remainingTokens,
	tokensOf,
	WRAP_UP_DUE,
} from "./state.ts";
import { completionReport, continueText, startText, wrapUpText } from "./texts.ts";

/** A durable objective: the session goes on by itself until the model completes it or a limit stops it. */
export const goal = defineFeature<Goal | undefined>({
	name: "goal",
	reads: [`custom:${GOAL_ENTRY}`],
	reduce: reduceGoal,
	setup(host) {
		const clock = host.port(CLOCK);
		let turnBegan = clock.now();

		const now = () => new Date(clock.now()).toISOString();
		const save = (next: Goal | undefined) => {
			host.append(GOAL_ENTRY, { goal: next ?? null });
			host.emit("goal_update", { goal: next ? publicGoal(next) : null });
		};
		const change = (fields: Partial<Goal>) => {
			const current = host.state();
			if (!current) throw new AgentError("not_found", "There is no goal. Set one first.");
			save({ ...current, ...fields, updatedAt: now() });
		};

		host.handle(getGoal, () => answer(host));
		host.handle(createGoal, ({ objective, token_budget = null }, { door }) => {
			checkGoal(host.state(), objective, token_budget);
			const at = now();
			save({
				objective,
				status: "active",
				tokenBudget: token_budget,
				tokensUsed: 0,
				secondsUsed: 0,
				idleTurns: 0,
				reason: null,
				createdAt: at,
				updatedAt: at,
			});
			if (door === "client") say(host, startText(host.state()!));
			return answer(host);
		});
		host.handle(completeGoal, () => {
			const current = host.state();
			if (!current || current.status === "complete") throw new AgentError("not_found", "There is no goal to complete.");
			change({ status: "complete", reason: null });
			return { ...answer(host), completion_budget_report: completionReport(host.state()!) };
		});
		host.handle(changeGoal, ({ to }) => {
			if (to === "cleared") save(undefined);
			else if (to === "paused") change({ status: "paused", reason: "user" });
			else {
				if (host.state()?.status === "complete")
					throw new AgentError("refused", "The goal is complete. Set a new one.");
				change({ status: "active", reason: null, idleTurns: 0 });
				say(host, continueText(host.state()!));
			}
			return answer(host);
		});
		host.registerCommand({
			name: "goal",
			description: "Set a goal that the agent pursues until it is complete; status, pause, resume or clear it",
			parse: parseGoalCommand,
		});

		host.on("run_start", () => {
			turnBegan = clock.now();
		});
		host.atBoundary("account", ({ message, toolResults, failed }) => {
			const seconds = Math.round((clock.now() - turnBegan) / 1000);
			turnBegan = clock.now();
			const current = host.state();
			if (current?.status !== "active") return { kind: "pass" };
			const usedTools = failed ? undefined : toolResults.length > 0;
			save(accountTurn(current, { tokens: tokensOf(message.usage), seconds, usedTools, at: now() }));
			return { kind: "pass" };
		});
		host.atBoundary("continue", ({ runEnds }) => {
			const current = host.state();
			if (current?.status === "budget_limited" && current.reason === WRAP_UP_DUE) {
				change({ reason: null });
				return { kind: "prompt", content: context(wrapUpText(current)) };
			}
			if (!runEnds || current?.status !== "active") return { kind: "pass" };
			return { kind: "prompt", content: context(continueText(current)) };
		});
	},
});

function checkGoal(current: Goal | undefined, objective: string, budget: number | null): void {
	const length = [...objective].length;
	if (objective.trim() === "") throw new AgentError("invalid_params", "A goal needs an objective.");
	if (length > MAX_OBJECTIVE) {
		throw new AgentError("invalid_params", `The objective has ${length} characters; ${MAX_OBJECTIVE} are allowed.`);
	}
	if (budget !== null && budget <= 0) {
		throw new AgentError("invalid_params", "The token budget must be a positive whole number.");
	}
	if (!isReplaceable(current)) {
		throw new AgentError("refused", `There is a goal already (${current?.status}). Complete or clear it first.`);
	}
}

function context(text: string) {
	return { text, customType: "goal_context", display: false };
}

function say(host: FeatureHost<Goal | undefined>, text: string): void {
	host.enqueue({ lane: "followUp", key: "goal", ...context(text) });
}

function answer(host: FeatureHost<Goal | undefined>) {
	const current = host.state();
	return {
		goal: current ? publicGoal(current) : null,
		remaining_tokens: remainingTokens(current),
		completion_budget_report: null,
	};
}

/** The goal under the names that the kernel and clients know. */
function publicGoal(current: Goal) {
	return {
		objective: current.objective,
		status: current.status,
		token_budget: current.tokenBudget,
		tokens_used: current.tokensUsed,
		time_used_seconds: current.secondsUsed,
		reason: current.reason,
		created_at: current.createdAt,
		updated_at: current.updatedAt,
	};
}
