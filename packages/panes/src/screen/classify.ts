import type { Box, Composer, ScreenCapture, View } from "./view.ts";
import { makeView } from "./view.ts";

/** What a screen shows: `blocked` waits for a person; `unknown` is said rather than guessed. */
export type ScreenWord = "ready" | "busy" | "blocked" | "dead" | "unknown";

/** One sign on a screen and the word it stands for. Rules look at places of the interface, never at content. */
export interface ScreenRule {
	readonly word: ScreenWord;
	/** Name that `classify` prints. */
	readonly name: string;
	readonly when: (view: View) => boolean;
}

/** How one agent CLI draws itself. */
export interface ScreenRules {
	readonly findBox: (rows: readonly string[]) => Box | undefined;
	/** Texts that stand in an empty composer, for captures without colours. */
	readonly placeholders: readonly RegExp[];
	/** The first rule that holds decides; without one a composer means `ready`. */
	readonly rules: readonly ScreenRule[];
}

/** The word for a screen, the rule that decided and the composer, if one is drawn. */
export interface Verdict {
	readonly word: ScreenWord;
	readonly rule: string;
	readonly composer: Composer | undefined;
}

/** Says what a captured screen shows. Pure: the same capture always gives the same verdict. */
export function classify(rules: ScreenRules, capture: ScreenCapture): Verdict {
	const view = makeView(capture, rules.findBox, rules.placeholders);
	const { composer } = view;
	if (capture.isDead) return { word: "dead", rule: "pane-dead", composer: undefined };
	if (view.isBlank) return { word: "unknown", rule: "blank", composer };
	const rule = rules.rules.find((candidate) => candidate.when(view));
	if (rule !== undefined) return { word: rule.word, rule: rule.name, composer };
	if (composer !== undefined) return { word: "ready", rule: "composer", composer };
	return { word: "unknown", rule: "no-rule", composer };
}

/** Rules for a program that is known only by two patterns; busy is tested first, a miss of both is `unknown`. */
export function patternRules(ready: RegExp | undefined, busy: RegExp | undefined, base?: ScreenRules): ScreenRules {
	const has = (view: View, pattern: RegExp) => pattern.test(view.rows.map((row) => row.text).join("\n"));
	const rules: ScreenRule[] = [];
	if (busy !== undefined) rules.push({ word: "busy", name: "pattern", when: (view) => has(view, busy) });
	if (ready !== undefined) rules.push({ word: "ready", name: "pattern", when: (view) => has(view, ready) });
	rules.push({ word: "unknown", name: "no-pattern", when: () => true });
	return {
		findBox: base?.findBox ?? (() => undefined),
		placeholders: base?.placeholders ?? [],
		rules,
	};
}
