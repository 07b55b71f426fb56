import { dirname, join, resolve } from "node:path";
import { isJsonObject } from "../lib/json.ts";
import { readJsonFile } from "../platform/json-file.ts";
import { type Environment, expandHome } from "../platform/paths.ts";
import { findUnknown } from "./known.ts";

/** So many unknown names of a file are told, and so much of each. */
const MAX_TOLD = 20;
const MAX_NAME = 100;

/** How hard a model may be asked to think, weakest first. */
export const THINKING_LEVELS = ["off", "minimal", "low", "medium", "high", "xhigh", "max"] as const;

/** The settings of the user and the project, merged. */
export interface Settings {
	readonly defaultProvider?: string | undefined;
	readonly defaultModel?: string | undefined;
	readonly defaultThinkingLevel?: string | undefined;
	/** Absolute. */
	readonly sessionDir?: string | undefined;
	readonly kernel: KernelSettings;
	/** Any setting by its dotted path, as it was written; whoever reads it checks it. */
	get(path: string): unknown;
}

/** Settings of the Python kernel. */
export interface KernelSettings {
	readonly backend?: (typeof BACKENDS)[number] | undefined;
	/** Interpreter. */
	readonly python?: string | undefined;
	readonly cellTimeoutMs?: number | undefined;
	/** Variables that cells may see although they look like credentials. */
	readonly envPass?: readonly string[] | undefined;
	/** Bounds of what is saved of the variables; undefined where no file says any. */
	readonly snapshot?: SnapshotSettings | undefined;
}

/** Settings of the snapshots of variables. */
interface SnapshotSettings {
	readonly variableMb?: number | undefined;
	readonly totalMb?: number | undefined;
	/** How many. */
	readonly variables?: number | undefined;
	readonly timeoutMs?: number | undefined;
	readonly variableTimeoutMs?: number | undefined;
}

const BACKENDS = ["auto", "ipykernel", "builtin"] as const;

/** Settings, and what is wrong with their files. */
export interface LoadedSettings {
	readonly settings: Settings;
	readonly warnings: readonly string[];
}

/**
 * Reads the user's settings and, over them, those of the project in `cwd`. Never throws and never writes: a broken
 * file is reported, kept as it is, and counts as empty; so does a single wrong value.
 */
export function readSettings(agentFolder: string, cwd: string, env: Environment): LoadedSettings {
	const user = join(agentFolder, "settings.json");
	const project = join(cwd, ".prime", "agent", "settings.json");
	const warnings: string[] = [];
	const own = readScope({ path: user, isUser: true, env, warnings });
	const over = resolve(user) === resolve(project) ? {} : readScope({ path: project, isUser: false, env, warnings });
	return { settings: openSettings(merge(own, over)), warnings };
}

/** No settings at all. */
export const NO_SETTINGS: Settings = openSettings({});

/** The typed view of settings whose values were checked. */
function openSettings(values: JsonObject): Settings {
	const get = (path: string) => valueAt(values, path);
	return {
		defaultProvider: get("defaultProvider") as string | undefined,
		defaultModel: get("defaultModel") as string | undefined,
		defaultThinkingLevel: get("defaultThinkingLevel") as string | undefined,
		sessionDir: get("sessionDir") as string | undefined,
		kernel: {
			backend: get("kernel.backend") as KernelSettings["backend"],
			python: get("kernel.python") as string | undefined,
			cellTimeoutMs: get("kernel.cellTimeoutMs") as number | undefined,
			envPass: get("kernel.env.pass") as string[] | undefined,
			snapshot: get("kernel.snapshot") as SnapshotSettings | undefined,
		},
		get,
	};
}

type JsonObject = Record<string, unknown>;

interface Scope {
	readonly path: string;
	readonly isUser: boolean;
	readonly env: Environment;
	readonly warnings: string[];
}

/** Says what a value must be, or undefined when it is right. */
type Rule = (value: unknown) => string | undefined;

const isText: Rule = (value) => (typeof value === "string" && value !== "" ? undefined : "it must be a text");
const isCount: Rule = (value) => (typeof value === "number" && value > 0 ? undefined : "it must be a number above 0");
const isAmount: Rule = (value) =>
	typeof value === "number" && value >= 0 ? undefined : "it must be a number, 0 or more";
const isWithin =
	(least: number, most: number): Rule =>
	(value) =>
		typeof value === "number" && value >= least && value <= most
			? undefined
			: `it must be a number from ${least} to ${most}`;
const isSwitch: Rule = (value) => (typeof value === "boolean" ? undefined : "it must be true or false");
const isNames: Rule = (value) =>
	Array.isArray(value) && value.every((name) => typeof name === "string") ? undefined : "it must be a list of names";
const isOneOf =
	(choices: readonly string[]): Rule =>
	(value) =>
		choices.some((choice) => choice === value) ? undefined : `it must be one of ${choices.join(", ")}`;

const RULES: Readonly<Record<string, Rule>> = {
	defaultProvider: isText,
	defaultModel: isText,
	defaultThinkingLevel: isOneOf(THINKING_LEVELS),
	sessionDir: isText,
	"kernel.backend": isOneOf(BACKENDS),
	"kernel.cellTimeoutMs": isCount,
	"kernel.python": isText,
	"kernel.env.pass": isNames,
	"kernel.snapshot.variableMb": isWithin(0.1, 4096),
	"kernel.snapshot.totalMb": isWithin(0.1, 16_384),
	"kernel.snapshot.variables": isWithin(1, 100_000),
	"kernel.snapshot.timeoutMs": isWithin(100, 600_000),
	"kernel.snapshot.variableTimeoutMs": isWithin(10, 600_000),
	"retry.enabled": isSwitch,
	"retry.maxRetries": isAmount,
	"retry.baseDelayMs": isAmount,
	"retry.provider.timeoutMs": isAmount,
	"retry.provider.maxRetryDelayMs": isAmount,
	"compaction.enabled": isSwitch,
	"compaction.agentCallable": isSwitch,
	"compaction.reserveTokens": isAmount,
	"compaction.keepRecentTokens": isAmount,
	"compaction.overflowPatterns": isNames,
};

/** Names that older versions used; the newer name wins where a file has both. */
const OLD_NAMES: readonly (readonly [from: string, to: string])[] = [
	["retry.maxDelayMs", "retry.provider.maxRetryDelayMs"],
];

/** What decides which code runs, what it gets to see, or how much runs: the user's to say, not a project's. */
const USER_ONLY = [
	"kernel.python",
	"kernel.env.pass",
	"shellPath",
	"shellCommandPrefix",
	"npmCommand",
	"packages",
	"extensions",
	"mcpServers",
	"rlmMaxDepth",
	"idleEvictionMinutes",
];

/** The values of one file that may be used. */
function readScope({ path, isUser, env, warnings }: Scope): JsonObject {
	const file = readJsonFile(path);
	if (file.kind === "missing") return {};
	if (file.kind === "broken" || !isJsonObject(file.value)) {
		const reason = file.kind === "broken" ? file.reason : "it is not a JSON object";
		warnings.push(`${path} is not used: ${reason}. The file is kept as it is.`);
		return {};
	}
	const values = file.value;
	const leaveOut = (key: string, fault: string) => {
		warnings.push(`${path}: "${key}" is not used: ${fault}.`);
		removeAt(values, key);
	};
	const unknown = findUnknown(values, Object.keys(RULES));
	for (const { path: key, fault } of unknown.slice(0, MAX_TOLD)) {
		// a project's file may be anybody's, so its names are quoted
		const name = JSON.stringify(key.length > MAX_NAME ? `${key.slice(0, MAX_NAME)}…` : key);
		warnings.push(`${path}: ${name} ${fault}`);
	}
	if (unknown.length > MAX_TOLD) warnings.push(`${path}: ${unknown.length - MAX_TOLD} more names are not known.`);
	for (const { path: key } of unknown) removeAt(values, key);
	for (const [from, to] of OLD_NAMES) {
		const value = valueAt(values, from);
		if (value !== undefined && valueAt(values, to) === undefined) setAt(values, to, value);
		removeAt(values, from);
	}
	for (const key of isUser ? [] : USER_ONLY) {
		if (valueAt(values, key) !== undefined) leaveOut(key, "only the user's own settings may say it");
	}
	for (const [key, rule] of Object.entries(RULES)) {
		const value = valueAt(values, key);
		const fault = value === undefined ? undefined : rule(value);
		if (fault !== undefined) leaveOut(key, fault);
	}
	if (typeof values.sessionDir === "string") values.sessionDir = locate(values.sessionDir, path, env);
	return values;
}

function valueAt(values: unknown, path: string): unknown {
	const step = (inner: unknown, key: string) =>
		isJsonObject(inner) && Object.hasOwn(inner, key) ? inner[key] : undefined;
	return path.split(".").reduce(step, values);
}

function removeAt(values: JsonObject, path: string): void {
	const keys = path.split(".");
	const last = keys.pop()!;
	const holder = keys.length === 0 ? values : valueAt(values, keys.join("."));
	if (isJsonObject(holder)) delete holder[last];
}

/** Sets a value; what stands in its way and is no object is left alone. */
function setAt(values: JsonObject, path: string, value: unknown): void {
	const keys = path.split(".");
	const last = keys.pop()!;
	let holder = values;
	for (const key of keys) {
		holder[key] ??= {};
		const next = holder[key];
		if (!isJsonObject(next)) return;
		holder = next;
	}
	holder[last] = value;
}

/** Objects are merged field by field, everything else is replaced. */
function merge(under: JsonObject, over: JsonObject): JsonObject {
	const merged = new Map(Object.entries(under));
	for (const [key, value] of Object.entries(over)) {
		const below = merged.get(key);
		merged.set(key, isJsonObject(below) && isJsonObject(value) ? merge(below, value) : value);
	}
	return Object.fromEntries(merged);
}

/** Paths of a settings file count from the folder that it lies in. */
function locate(path: string, file: string, env: Environment): string {
	return resolve(dirname(file), expandHome(path, env));
}
