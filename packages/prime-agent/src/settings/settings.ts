import { dirname, join, resolve } from "node:path";
import { isJsonObject, readJsonFile } from "../platform/json-file.ts";
import { type Environment, expandHome } from "../platform/paths.ts";

/** How hard a model may be asked to think, weakest first. */
export const THINKING_LEVELS = ["off", "minimal", "low", "medium", "high", "xhigh", "max"] as const;

/** The settings that this version reads. */
export interface Settings {
	readonly defaultProvider?: string;
	readonly defaultModel?: string;
	readonly defaultThinkingLevel?: string;
	/** Absolute. */
	readonly sessionDir?: string;
	readonly kernel: KernelSettings;
}

/** Settings of the Python kernel. */
export interface KernelSettings {
	readonly backend?: (typeof BACKENDS)[number];
	/** Interpreter; of the user's file only, because it is run. */
	readonly python?: string;
	readonly cellTimeoutMs?: number;
	/** Variables that cells may see although they look like credentials; of the user's file only. */
	readonly envPass?: readonly string[];
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
	return { settings: { ...own, ...over, kernel: { ...own.kernel, ...over.kernel } }, warnings };
}

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
};

/** What decides which code runs, or what it gets to see, is the user's to say, not a project's. */
const USER_ONLY = new Set(["kernel.python", "kernel.env.pass"]);

function readScope(scope: Scope): Partial<Settings> {
	const { path, env, warnings } = scope;
	const file = readJsonFile(path);
	if (file.kind === "missing") return {};
	if (file.kind === "broken" || !isJsonObject(file.value)) {
		const reason = file.kind === "broken" ? file.reason : "it is not a JSON object";
		warnings.push(`${path} is not used: ${reason}. The file is kept as it is.`);
		return {};
	}
	const right = new Map<string, unknown>();
	for (const [key, rule] of Object.entries(RULES)) {
		const value = valueAt(file.value, key.split("."));
		if (value === undefined) continue;
		const fault = USER_ONLY.has(key) && !scope.isUser ? "only the user's own settings may say it" : rule(value);
		if (fault === undefined) right.set(key, value);
		else warnings.push(`${path}: "${key}" is not used: ${fault}.`);
	}
	const sessionDir = right.get("sessionDir");
	return {
		...pick(right, { defaultProvider: "defaultProvider", defaultModel: "defaultModel" }),
		...pick(right, { defaultThinkingLevel: "defaultThinkingLevel" }),
		...(typeof sessionDir === "string" ? { sessionDir: locate(sessionDir, path, env) } : {}),
		kernel: pick(right, {
			backend: "kernel.backend",
			cellTimeoutMs: "kernel.cellTimeoutMs",
			python: "kernel.python",
			envPass: "kernel.env.pass",
		}),
	};
}

function valueAt(value: unknown, keys: readonly string[]): unknown {
	return keys.reduce<unknown>((inner, key) => (isJsonObject(inner) ? inner[key] : undefined), value);
}

/** The values that are there, under the names they have in the program. */
function pick(values: ReadonlyMap<string, unknown>, names: Readonly<Record<string, string>>): object {
	const pairs = Object.entries(names).map(([name, key]) => [name, values.get(key)] as const);
	return Object.fromEntries(pairs.filter(([, value]) => value !== undefined));
}

/** Paths of a settings file count from the folder that it lies in. */
function locate(path: string, file: string, env: Environment): string {
	return resolve(dirname(file), expandHome(path, env));
}
