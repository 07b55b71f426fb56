import type { Static } from "@earendil-works/pi-schema";
import type { CommandOutcome } from "../../session/host.ts";
import { changeGoal, createGoal, getGoal } from "./operations.ts";
import { describeGoal } from "./state.ts";

const USAGE = "Usage: /goal [--budget <tokens>] <objective>, or /goal status|pause|resume|clear";

const CHANGES: Readonly<Record<string, "paused" | "active" | "cleared">> = {
	pause: "paused",
	resume: "active",
	clear: "cleared",
};

/** Reads the text after `/goal`. @throws {Error} with the usage text when it cannot. */
export function parseGoalCommand(args: string): CommandOutcome {
	const text = args.trim();
	if (text === "status" || text === "") return { operation: getGoal.name, params: {}, say: describe };
	const [word = ""] = text.split(/\s/);
	// A word that asks about goals is no objective: a run that nobody wanted costs money.
	if (word === "help" || (word !== text && (word === "status" || word in CHANGES))) throw new Error(USAGE);
	const to = CHANGES[text];
	if (to) return { operation: changeGoal.name, params: { to }, say: describe };
	const budget = /^--(?:token-)?budget(?:\s+|=)(\S+)\s*([\s\S]*)$/.exec(text);
	if (!budget) {
		if (text.startsWith("--")) throw new Error(USAGE);
		return { operation: createGoal.name, params: { objective: text }, say: describe };
	}
	const tokens = Number(budget[1]);
	if (!Number.isSafeInteger(tokens) || tokens <= 0 || !budget[2]) throw new Error(USAGE);
	return { operation: createGoal.name, params: { objective: budget[2], token_budget: tokens }, say: describe };
}

function describe(result: unknown): string {
	const { goal } = result as Static<typeof getGoal.result>;
	return goal ? describeGoal(goal) : "No goal is set.";
}
