import { PaneError } from "../errors.ts";
import { findPromptBox } from "../screen/box.ts";
import { patternRules, type ScreenRule, type ScreenRules } from "../screen/classify.ts";
import type { AgentCli, Wall } from "./cli.ts";
import { claudeRecord } from "./records/claude.ts";
import { codexRecord } from "./records/codex.ts";
import { claudeScreen } from "./screens/claude.ts";
import { lastRows } from "./signs.ts";
import { asTree, type Tree } from "./tree.ts";

/** How a program that is no known agent CLI draws itself, from the configuration; plain data, kept with its session. */
export interface TuiProfile {
	readonly name: string;
	/** Patterns of a screen; busy is tested first. */
	readonly ready: string;
	readonly busy: string;
	/** Whose composer it has: two rules around it, a line with a glyph, or none that can be read. */
	readonly composer: "claude-frame" | "prompt-line" | "none";
	readonly promptGlyph: string;
	/** Whose record it writes. */
	readonly producer: "codex-rollout" | "claude-projects" | "none";
	/** Key that queues a message while a turn runs. */
	readonly queueKey: string;
	/** Text that stands before each queued message. */
	readonly queuedMarker: string;
	readonly launchEnv: { readonly unset: readonly string[]; readonly set: Readonly<Record<string, string>> };
	/** Notices that `launch` answers: what they ask, and the row to choose. */
	readonly dismiss: readonly { readonly match: string; readonly choose: string; readonly cursor: string }[];
}

const DEFAULTS = {
	...{ ready: ".", composer: "none", prompt_glyph: "›", producer: "none", queue_key: "Enter", queued_marker: "↳" },
};
const LISTS = ["launch_env", "dismiss"];
const NOTICE_DEPTH = 20;

/** Reads one entry of `tui_profiles`; throws `PaneError` that names the key which makes no sense. */
export function readTuiProfile(name: string, tree: Tree, warn: (message: string) => void): TuiProfile {
	const known = [...Object.keys(DEFAULTS), "busy", ...LISTS];
	for (const key of Object.keys(tree)) if (!known.includes(key)) warn(`tui_profiles.${name}: unknown key "${key}"`);
	const text = (key: keyof typeof DEFAULTS | "busy") => String(tree[key] ?? (key === "busy" ? "" : DEFAULTS[key]));
	if (text("busy") === "") throw fault(name, "busy", "is missing: without it every look would say that no turn runs");
	const env = asTree(tree.launch_env);
	const profile: TuiProfile = {
		...{ name, ready: text("ready"), busy: text("busy"), promptGlyph: text("prompt_glyph") },
		composer: oneOf(name, "composer", text("composer"), ["claude-frame", "prompt-line", "none"]),
		producer: oneOf(name, "producer", text("producer"), ["codex-rollout", "claude-projects", "none"]),
		...{ queueKey: text("queue_key"), queuedMarker: text("queued_marker") },
		launchEnv: {
			unset: (Array.isArray(env.unset) ? env.unset : []).map(String),
			set: Object.fromEntries(Object.entries(asTree(env.set)).map(([key, value]) => [key, String(value)])),
		},
		dismiss: (Array.isArray(tree.dismiss) ? tree.dismiss : []).map((entry) => {
			const { match, choose, cursor = "[❯›>●]" } = asTree(entry);
			if (match === undefined || choose === undefined) throw fault(name, "dismiss", "needs match and choose");
			return { match: String(match), choose: String(choose), cursor: String(cursor) };
		}),
	};
	const patterns = profile.dismiss.flatMap((each) => [each.match, each.choose, each.cursor]);
	for (const pattern of [profile.ready, profile.busy, ...patterns]) compile(name, pattern);
	return profile;
}

/** An agent CLI made of a profile, so that it is driven like every other. */
export function makeCustomCli(profile: TuiProfile): AgentCli {
	const { name, queueKey } = profile;
	const producers = { "codex-rollout": codexRecord, "claude-projects": claudeRecord, none: undefined };
	const record = producers[profile.producer];
	const marker = profile.queuedMarker.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
	return {
		...{ name, processes: [], interactive: name, headless: name, fills: {}, promptChannel: "argument" },
		...{ oneShot: [], discovery: [], skillPrefix: "/", quirks: [], literal: {} },
		screen: makeRules(profile),
		...(record === undefined ? {} : { record }),
		keys: { interrupt: ["Escape"], ...(queueKey === "Enter" ? {} : { queue: queueKey }) },
		queued: new RegExp(`^\\s*${marker}`, "u"),
		walls: profile.dismiss.map((each) => makeNotice(name, each)),
		launchEnv: profile.launchEnv,
	};
}

function makeNotice(name: string, { match, choose, cursor }: TuiProfile["dismiss"][number]): Wall {
	return {
		...{ name: "configured notice", question: compile(name, match) },
		...{ accept: compile(name, choose), cursor: compile(name, cursor), isNotice: true },
	};
}

function makeRules(profile: TuiProfile): ScreenRules {
	const base = makeBase(profile);
	const rules = patternRules(compile(profile.name, profile.ready), compile(profile.name, profile.busy), base);
	return { ...rules, rules: [...base.rules, ...rules.rules] };
}

/** The composer, and notices where they have taken its place: the same words in the transcript are no notice. */
function makeBase({ name, composer, promptGlyph, dismiss }: TuiProfile): ScreenRules {
	const notices = dismiss.map(
		({ match }): ScreenRule => ({
			word: "blocked",
			name: "configured-notice",
			when: (view) => view.box === undefined && compile(name, match).test(lastRows(view, NOTICE_DEPTH).join("\n")),
		}),
	);
	if (composer === "claude-frame") return { ...claudeScreen, rules: notices };
	if (composer === "none") return { findBox: () => undefined, placeholders: [], rules: notices };
	const glyph = compile(name, `^${promptGlyph.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}(?: |$)`);
	return { findBox: (rows) => findPromptBox(rows, glyph, promptGlyph.length + 1), placeholders: [], rules: notices };
}

function oneOf<Word extends string>(name: string, key: string, text: string, words: readonly Word[]): Word {
	const word = words.find((each) => each === text);
	if (word === undefined) throw fault(name, key, `is one of ${words.join(", ")}, not "${text}"`);
	return word;
}

function compile(name: string, pattern: string): RegExp {
	try {
		return new RegExp(pattern, "mu");
	} catch (error) {
		throw fault(name, "", `"${pattern}" is no regular expression: ${(error as Error).message}`);
	}
}

function fault(name: string, key: string, problem: string): PaneError {
	return new PaneError("config", `tui_profiles.${name}${key === "" ? ":" : `.${key}`} ${problem}`);
}
