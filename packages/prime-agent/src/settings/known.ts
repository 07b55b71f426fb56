import { suggest } from "../lib/edit-distance.ts";
import { isJsonObject } from "../lib/json.ts";

/** Settings that nothing checks yet, because the parts of the program that read them come later. */
// biome-ignore format: one group a line.
const LATER: readonly string[] = [
	"recentModels", "defaultServiceTier", "thinkingBudgets", "enabledModels", "transport", "hideThinkingBlock",
	"autoRefine.enabled", "autoRefine.turnInterval", "autoRefine.compact", "autoRefine.cooldownMs",
	"branchSummary.reserveTokens", "branchSummary.skipPrompt", "retry.provider.maxRetries",
	"steeringMode", "followUpMode", "idleEvictionMinutes", "rlmMaxDepth",
	"theme", "quietStartup", "treeFilterMode", "editorPaddingX", "autocompleteMaxVisible", "showHardwareCursor",
	"terminal.showImages", "terminal.clearOnShrink", "terminal.showTerminalProgress", "terminal.fullscreen",
	"terminal.fullscreenMouse", "images.autoResize", "images.blockImages", "markdown.codeBlockIndent",
	"warnings.anthropicExtraUsage",
	"shellPath", "shellCommandPrefix", "npmCommand", "packages", "extensions", "skills", "prompts", "themes",
	"enableSkillCommands", "enableBuiltinSkills", "bundledSkills.websearch", "mcpServers", "agentTraces.enabled",
	"onboardingShown", "onboardingCompleted",
];

/** Names that older versions wrote; nobody is told to use them. */
const OLD: readonly string[] = [
	"websockets",
	"queueMode",
	"retry.maxDelayMs",
	"lastChangelogVersion",
	"collapseChangelog",
	"doubleEscapeAction",
];

/** A setting that means nothing: its path, and what to say about it, with the one that was probably meant. */
export interface UnknownSetting {
	readonly path: string;
	readonly fault: string;
}

/**
 * The settings of a file that nobody reads; `checked` are the paths of those that somebody reads now. What lies below a
 * setting is its own affair. Keys that begin with `$`, `_` or `/` are notes of people and editors.
 */
export function findUnknown(values: JsonObject, checked: readonly string[]): UnknownSetting[] {
	return findIn(values, "", [...checked, ...LATER]);
}

type JsonObject = Readonly<Record<string, unknown>>;

function findIn(values: JsonObject, prefix: string, known: readonly string[]): UnknownSetting[] {
	return Object.entries(values).flatMap(([key, value]) => {
		const path = `${prefix}${key}`;
		if (known.includes(path) || OLD.includes(path) || /^[$_/]/.test(key)) return [];
		const inside = namesBelow(`${path}.`, known);
		if (inside.length === 0) return [{ path, fault: `is not known. ${suggestSetting(key, prefix, known)}`.trimEnd() }];
		if (isJsonObject(value)) return findIn(value, `${path}.`, known);
		return [{ path, fault: `is not used: it must be an object with ${inside.join(", ")}.` }];
	});
}

function namesBelow(prefix: string, known: readonly string[]): string[] {
	const below = known.filter((path) => path.startsWith(prefix));
	return [...new Set(below.map((path) => path.slice(prefix.length).split(".")[0]!))];
}

/** The nearest name beside it; without one, settings elsewhere that have this very name. */
function suggestSetting(key: string, prefix: string, known: readonly string[]): string {
	const near = suggest(key, namesBelow(prefix, known));
	if (near) return near;
	const elsewhere = known.filter((path) => path.endsWith(`.${key}`)).map((path) => `"${path}"`);
	return elsewhere.length > 0 ? `Did you mean ${elsewhere.join(" or ")}?` : "";
}
