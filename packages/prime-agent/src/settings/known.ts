import { suggest } from "../lib/edit-distance.ts";
import { isJsonObject } from "../lib/json.ts";

/**
 * Every setting that there is by its dotted path, also those that parts of the program read which come later, and the
 * names that older versions used. What lies below one of them is its own affair.
 */
// biome-ignore format: one group a line.
const KNOWN: readonly string[] = [
	"defaultProvider", "defaultModel", "recentModels", "defaultThinkingLevel", "defaultServiceTier", "thinkingBudgets",
	"enabledModels", "transport", "websockets", "hideThinkingBlock",
	"compaction.enabled", "compaction.reserveTokens", "compaction.keepRecentTokens", "compaction.agentCallable",
	"compaction.overflowPatterns",
	"autoRefine.enabled", "autoRefine.turnInterval", "autoRefine.compact", "autoRefine.cooldownMs",
	"branchSummary.reserveTokens", "branchSummary.skipPrompt",
	"retry.enabled", "retry.maxRetries", "retry.baseDelayMs", "retry.maxDelayMs",
	"retry.provider.timeoutMs", "retry.provider.maxRetries", "retry.provider.maxRetryDelayMs",
	"steeringMode", "followUpMode", "queueMode", "idleEvictionMinutes", "rlmMaxDepth", "sessionDir",
	"kernel.backend", "kernel.python", "kernel.cellTimeoutMs", "kernel.env.pass",
	"theme", "quietStartup", "treeFilterMode", "editorPaddingX", "autocompleteMaxVisible", "showHardwareCursor",
	"terminal.showImages", "terminal.clearOnShrink", "terminal.showTerminalProgress", "terminal.fullscreen",
	"terminal.fullscreenMouse", "images.autoResize", "images.blockImages", "markdown.codeBlockIndent",
	"warnings.anthropicExtraUsage",
	"shellPath", "shellCommandPrefix", "npmCommand", "packages", "extensions", "skills", "prompts", "themes",
	"enableSkillCommands", "enableBuiltinSkills", "bundledSkills.websearch", "mcpServers", "agentTraces.enabled",
	"onboardingShown", "onboardingCompleted", "lastChangelogVersion", "collapseChangelog", "doubleEscapeAction",
];

/** A setting that means nothing: its path, and what to say about it, with the one that was probably meant. */
export interface UnknownSetting {
	readonly path: string;
	readonly fault: string;
}

/** The settings of a file that nobody reads. Keys that begin with `$`, `_` or `/` are notes of people and editors. */
export function findUnknown(values: Readonly<Record<string, unknown>>, prefix = ""): UnknownSetting[] {
	return Object.entries(values).flatMap(([key, value]) => {
		const path = `${prefix}${key}`;
		if (KNOWN.includes(path) || /^[$_/]/.test(key)) return [];
		const inside = KNOWN.filter((known) => known.startsWith(`${path}.`)).map((known) => known.slice(path.length + 1));
		if (inside.length === 0) return [{ path, fault: `is not known. ${suggestSetting(key, prefix)}`.trimEnd() }];
		if (isJsonObject(value)) return findUnknown(value, `${path}.`);
		return [{ path, fault: `is not used: it must be an object with ${inside.join(", ")}.` }];
	});
}

/** The nearest name beside it; without one, settings elsewhere that have this very name. */
function suggestSetting(key: string, prefix: string): string {
	const beside = KNOWN.filter((known) => known.startsWith(prefix)).map((known) => known.slice(prefix.length));
	const names = [...new Set(beside.map((name) => name.split(".")[0]!))];
	const near = suggest(key, names);
	if (near) return near;
	const elsewhere = KNOWN.filter((known) => known.endsWith(`.${key}`)).map((known) => `"${known}"`);
	return elsewhere.length > 0 ? `Did you mean ${elsewhere.join(" or ")}?` : "";
}
