import { basename } from "node:path";
import type { AgentCli } from "../clis/cli.ts";
import { makeCustomCli, type TuiProfile } from "../clis/custom.ts";
import { findCli } from "../clis/index.ts";
import { UsageError } from "../errors.ts";
import { patternRules, type ScreenRules, type ScreenWord, type Verdict } from "../screen/classify.ts";

/** How a session's screen is read: by the rules of a known CLI, by two patterns, or by anything at all. */
export interface Profile {
	readonly name: string;
	readonly cli: AgentCli | undefined;
	readonly rules: ScreenRules;
}

/** What a session's screen shows in the words of the session verbs. */
export type StatusWord = "busy" | "idle" | "starting" | "blocked" | "dead" | "unknown";

/** Words that are stored on a session so that later verbs need no flags. */
export interface ProfileChoice {
	readonly profile: string;
	readonly ready?: string | undefined;
	readonly busy?: string | undefined;
	/** A profile of the configuration as JSON; it outranks a known CLI of the same name. */
	readonly tui?: string | undefined;
}

/** Profile name for a command line: the program's own name when it is known, else `generic`. */
export function profileNameOf(words: readonly string[]): string {
	const name = basename(words[0] ?? "");
	return findCli(name) === undefined ? "generic" : name;
}

/** Resolves a choice; patterns outrank the rules of the CLI. Throws `UsageError` for an unknown name or a bad pattern. */
export function resolveProfile(choice: ProfileChoice): Profile {
	const cli = choice.tui ? makeCustomCli(JSON.parse(choice.tui) as TuiProfile) : findCli(choice.profile);
	if (cli === undefined && choice.profile !== "generic") {
		throw new UsageError(
			`unknown profile "${choice.profile}"; use generic, a name from agent-tmux providers, or one of your tui_profiles`,
		);
	}
	const ready = choice.ready ? compile(choice.ready) : undefined;
	const busy = choice.busy ? compile(choice.busy) : undefined;
	if (ready === undefined && busy === undefined && cli !== undefined) {
		return { name: choice.profile, cli, rules: cli.screen ?? patternRules(undefined, undefined) };
	}
	const rules = patternRules(ready ?? cli?.patterns?.ready ?? /./, busy ?? cli?.patterns?.busy, cli?.screen);
	return { name: choice.profile, cli, rules };
}

/** The session word for a verdict; what a blank screen or a missed pattern means is that the program still starts. */
export function statusOf(verdict: Verdict): StatusWord {
	const words: Record<ScreenWord, StatusWord> = {
		ready: "idle",
		busy: "busy",
		blocked: "blocked",
		dead: "dead",
		unknown: verdict.rule === "blank" || verdict.rule === "no-pattern" ? "starting" : "unknown",
	};
	return words[verdict.word];
}

function compile(pattern: string): RegExp {
	if (pattern.includes("\n")) throw new UsageError("a pattern must be a single line");
	try {
		return new RegExp(pattern, "mu");
	} catch (error) {
		throw new UsageError(`"${pattern}" is no regular expression: ${(error as Error).message}`);
	}
}
