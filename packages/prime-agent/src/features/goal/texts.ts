import { type Goal, remainingTokens } from "./state.ts";

/** What the model is told about the goal, always inside one tag pair. */
function wrap(text: string): string {
	return `<goal_context>\n${text}\n</goal_context>`;
}

function budgetLine(goal: Goal): string {
	const left = remainingTokens(goal);
	return left === null ? `Tokens used so far: ${goal.tokensUsed}.` : `Tokens left: ${left} of ${goal.tokenBudget}.`;
}

/** Opens the work on a goal that a person set. */
export function startText(goal: Goal): string {
	return wrap(
		`The user set a goal for this session. Work on it until it is reached, then run \`await goal.complete()\` in a cell.\n\nGoal: ${goal.objective}\n\n${budgetLine(goal)}`,
	);
}

/** Sends the model back to work when it stopped before the goal was complete. */
export function continueText(goal: Goal): string {
	return wrap(
		`The goal is not complete yet: go on with the next step. When everything it asks for is done and checked, run \`await goal.complete()\`; saying so is not enough. If only the user can unblock you, say what you need.\n\nGoal: ${goal.objective}\n\n${budgetLine(goal)}`,
	);
}

/** Asks for a summary when the budget is used up. */
export function wrapUpText(goal: Goal): string {
	return wrap(
		`The token budget of the goal is used up (${goal.tokensUsed} of ${goal.tokenBudget}). Start nothing new. Sum up what is done, what is left and the best next step. Do not complete the goal unless it is really reached.\n\nGoal: ${goal.objective}`,
	);
}

/** What completing the goal cost. */
export function completionReport(goal: Goal): string {
	const budget = goal.tokenBudget === null ? "" : ` of ${goal.tokenBudget}`;
	return `Goal complete. Tokens used: ${goal.tokensUsed}${budget}. Time used: ${goal.secondsUsed} s.`;
}
