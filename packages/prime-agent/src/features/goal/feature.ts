import type { Usage } from "@earendil-works/pi-ai";
import { AgentError } from "../../protocol/errors.ts";
import { toMessage } from "../../session/context.ts";
import { defineFeature, type FeatureHost } from "../../session/host.ts";
import { CLOCK } from "../../session/ports.ts";
import { parseGoalCommand } from "./command.ts";
import { changeGoal, completeGoal, createGoal, getGoal, MAX_OBJECTIVE } from "./operations.ts";
import {
	accountTurn,
	GOAL_ENTRY,
	type Goal,
	isReplaceable,
	publicGoal,
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
		/** The goal was paused while a turn worked on it: what that turn costs is still the goal's. */
		let isTurnOpen = false;
		/** The newest reply that was counted. */
		let countedId: string | undefined;

		const now = () => new Date(clock.now()).toISOString();
		const elapsed = () => Math.round((clock.now() - turnBegan) / 1000);
		const spend = (current: Goal, tokens: number, seconds: number): Goal => ({
			...current,
			tokensUsed: current.tokensUsed + tokens,
			secondsUsed: current.secondsUsed + seconds,
			updatedAt: now(),
		});
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
			// The turn that completes the goal counts, too, and its reply is in the log while its calls run.
			const reply = findReply(host);
			const isDue = reply && reply.id !== countedId && (current.status === "active" || isTurnOpen);
			const spent = isDue ? spend(current, tokensOf(reply.usage), elapsed()) : current;
			isTurnOpen = false;
			save({ ...spent, status: "complete", reason: null, updatedAt: now() });
			return { ...answer(host), completion_budget_report: completionReport(host.state()!) };
		});
		host.handle(changeGoal, ({ to }) => {
			if (to === "cleared") save(undefined);
			else if (to === "paused") {
				isTurnOpen = host.state()?.status === "active";
				change({ status: "paused", reason: "user" });
			} else {
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
			isTurnOpen = false;
		});
		host.atBoundary("account", ({ message, toolResults, failed }) => {
			const [seconds, current, wasOpen] = [elapsed(), host.state(), isTurnOpen];
			turnBegan = clock.now();
			isTurnOpen = false;
			countedId = findReply(host)?.id;
			const tokens = tokensOf(message.usage);
			if (current?.status === "active") {
				const usedTools = failed ? undefined : toolResults.length > 0;
				save(accountTurn(current, { tokens, seconds, usedTools, at: now() }));
			} else if (current?.status === "paused" && wasOpen) save(spend(current, tokens, seconds));
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

/** The newest reply of the branch. */
function findReply(host: FeatureHost<Goal | undefined>): { readonly id: string; readonly usage: Usage } | undefined {
	for (const entry of host.fromLeaf()) {
		const message = toMessage(entry);
		if (message?.role === "assistant") return { id: entry.id, usage: message.usage };
	}
	return undefined;
}
