import { PaneError } from "../errors.ts";
import { hookCommand, isOurs } from "./command.ts";
import type { Harness, HookEvent } from "./harness.ts";

type Tree = Record<string, unknown>;

const TOML_START = "# >>> agent-tmux hooks >>>";
const TOML_END = "# <<< agent-tmux hooks <<<";

/** The text of a hooks file with our entries in it, and everything of others as it was; undefined text is no file. */
export function addHooks(harness: Harness, text: string | undefined, tool: string, path: string): string {
	if (harness.format === "opencode-plugin") return drawPlugin(harness, tool);
	if (harness.format === "kimi-toml") return addToml(harness, removeToml(text ?? ""), tool);
	const tree = parseSettings(text, path);
	const hooks = removeEntries(tree.hooks);
	for (const event of harness.events) {
		const entries = Array.isArray(hooks[event.event]) ? (hooks[event.event] as unknown[]) : [];
		hooks[event.event] = [...entries, drawEntry(harness, event, tool)];
	}
	const version = harness.format === "copilot-json" ? { version: 1 } : {};
	return print({ ...version, ...tree, hooks }, text);
}

/** The text without our entries; undefined when nothing but ours was in the file. */
export function removeHooks(harness: Harness, text: string, path: string): string | undefined {
	if (harness.format === "opencode-plugin") return undefined;
	if (harness.format === "kimi-toml") {
		const rest = removeToml(text);
		return rest.trim() === "" ? undefined : rest;
	}
	const { hooks, ...tree } = parseSettings(text, path);
	const kept = removeEntries(hooks);
	const hasHooks = Object.keys(kept).length > 0;
	const isOwnFile = harness.format === "copilot-json";
	if (!hasHooks && (isOwnFile || Object.keys(tree).length === 0)) return undefined;
	return print(hasHooks ? { ...tree, hooks: kept } : tree, text);
}

/** How many of a harness's events report through us in this text. */
export function countHooks(harness: Harness, text: string | undefined, path: string): number {
	if (text === undefined) return 0;
	if (harness.format === "opencode-plugin") return isOurs(text) ? harness.events.length : 0;
	if (harness.format === "kimi-toml") return text.split("\n").filter((line) => isOurs(line)).length;
	return Object.values(asTree(parseSettings(text, path).hooks))
		.flatMap((entries) => (Array.isArray(entries) ? (entries as unknown[]) : []))
		.filter(holdsOurs).length;
}

function drawEntry(harness: Harness, event: HookEvent, tool: string): Tree {
	const command = hookCommand(tool, harness, event.token);
	const matcher = event.matcher === undefined ? {} : { matcher: event.matcher };
	if (harness.format === "copilot-json") return { type: "command", bash: command, ...matcher };
	return { ...matcher, hooks: [{ type: "command", command }] };
}

/** Entries without ours; events that held nothing else vanish, foreign order stays. */
function removeEntries(hooks: unknown): Tree {
	const kept: Tree = {};
	for (const [event, entries] of Object.entries(asTree(hooks))) {
		if (!Array.isArray(entries)) {
			kept[event] = entries;
			continue;
		}
		const foreign = entries.flatMap((entry: unknown) => withoutOurs(entry));
		if (foreign.length > 0 || entries.length === 0) kept[event] = foreign;
	}
	return kept;
}

function withoutOurs(entry: unknown): unknown[] {
	if (!holdsOurs(entry)) return [entry];
	const { hooks } = asTree(entry);
	if (!Array.isArray(hooks)) return [];
	const foreign = hooks.filter((hook: unknown) => !isOurs(asTree(hook).command));
	return foreign.length === 0 ? [] : [{ ...asTree(entry), hooks: foreign }];
}

function holdsOurs(entry: unknown): boolean {
	const { hooks, command, bash } = asTree(entry);
	if (isOurs(command) || isOurs(bash)) return true;
	return Array.isArray(hooks) && hooks.some((hook: unknown) => isOurs(asTree(hook).command));
}

function parseSettings(text: string | undefined, path: string): Tree {
	if (text === undefined || text.trim() === "") return {};
	let value: unknown;
	try {
		value = JSON.parse(text);
	} catch (error) {
		throw new PaneError("hooks", `${path} is no valid JSON, so it was left alone: ${(error as Error).message}`, {
			cause: error,
		});
	}
	if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Tree;
	throw new PaneError("hooks", `${path} holds no JSON object, so it was left alone`);
}

/** Keeps the indentation of the file, so that a diff shows only what changed. */
function print(tree: Tree, before: string | undefined): string {
	const indent = /^[\t ]+(?=")/m.exec(before ?? "")?.[0] ?? "  ";
	return `${JSON.stringify(tree, null, indent)}\n`;
}

function addToml(harness: Harness, text: string, tool: string): string {
	const blocks = harness.events.map(({ event, token }) => {
		return `[[hooks]]\nevent = "${event}"\ncommand = '''${hookCommand(tool, harness, token)}'''`;
	});
	const gap = text === "" || text.endsWith("\n") ? "" : "\n";
	return `${text}${gap}${[TOML_START, ...blocks, TOML_END].join("\n")}\n`;
}

function removeToml(text: string): string {
	const start = text.indexOf(TOML_START);
	const end = text.indexOf(TOML_END);
	if (start < 0 || end < start) return text;
	return text.slice(0, start) + text.slice(end + TOML_END.length).replace(/^\n/, "");
}

function drawPlugin(harness: Harness, tool: string): string {
	const cases = harness.events.map(({ event, token }) => {
		const test = event === "session.status" ? ` && event.properties?.status?.type === "busy"` : "";
		const root = event === "session.created" ? " && !event.properties?.info?.parentID" : "";
		return `      if (event.type === ${JSON.stringify(event)}${test}${root}) await tell(${JSON.stringify(hookCommand(tool, harness, token))});`;
	});
	return [
		"// Reports the state of this agent to tmux. Written by `agent-tmux hooks install`; remove it with `hooks uninstall`.",
		'import { exec } from "node:child_process";',
		"",
		"const tell = (command) => new Promise((resolve) => exec(command, { timeout: 5000 }, () => resolve()));",
		"",
		"export const AgentTmux = async () => ({",
		"  event: async ({ event }) => {",
		...cases,
		"  },",
		"});",
		"",
	].join("\n");
}

function asTree(value: unknown): Tree {
	return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Tree) : {};
}
