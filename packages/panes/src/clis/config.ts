import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import type { AgentTable, Provider, Sourced } from "../compose/resolve.ts";
import { PaneError } from "../errors.ts";
import { type Fill, ROLES, type Role } from "./cli.ts";
import { readTuiProfile, type TuiProfile } from "./custom.ts";
import { CLIS } from "./index.ts";
import { asTree, type Tree } from "./tree.ts";
import { isTrusted, userFolder } from "./trust.ts";

/** Where dispatch puts its workers and records. */
export interface DispatchConfig {
	readonly mode: "native" | "pane" | "headless";
	readonly columnWidth: number;
	/** Smallest split for a worker, in columns and rows. */
	readonly floor: { readonly columns: number; readonly rows: number };
	readonly reapDone: boolean;
	readonly dir: string;
}

/** The configuration after all layers are merged. */
export interface PanesConfig {
	readonly table: AgentTable;
	readonly dispatch: DispatchConfig;
	/** The profile that the configuration gives a program, by the profile's or the program's name. */
	readonly findTui: (name: string) => TuiProfile | undefined;
}

/** How the configuration is found. */
export interface ConfigRequest {
	/** Folder whose project file counts; by default the caller's. */
	readonly cwd: string;
	readonly env: NodeJS.ProcessEnv;
	/** Whether the project's file may name commands that run. */
	readonly trustProject?: boolean | undefined;
	readonly warn: (message: string) => void;
}

const KNOWN = ["agent", "providers", "dispatch", "tui_profiles"];
/** Keys of a provider that decide what runs or how its screen is read. */
const COMMAND_KEYS = ["interactive_command", "headless_command", "session_command", "dispatch_command", "tui"];

/** Reads the layers environment > project > user > built-in; an empty leaf falls through to the next layer. */
export async function loadConfig(request: ConfigRequest): Promise<PanesConfig> {
	const { env } = request;
	const userFile = readFile(join(userFolder(env), "config.yaml"));
	const user = userFile === undefined ? {} : await readLayer(userFile, request);
	const project = await readProject(request);
	const layers = [project, user];
	return {
		table: makeTable(layers, env),
		dispatch: makeDispatch(layers, request),
		findTui: (name) => findTui(layers, name, request),
	};
}

function findTui(layers: readonly Tree[], program: string, request: ConfigRequest): TuiProfile | undefined {
	const name = leaf(layers, "providers", program, "tui", "profile") ?? program;
	const entries = layers.map((layer) => asTree(layer.tui_profiles)[name]).filter((entry) => entry !== undefined);
	if (entries.length === 0) return undefined;
	return readTuiProfile(name, Object.assign({}, ...entries.toReversed().map(asTree)), request.warn);
}

/** A configuration file as it was read. */
export interface ConfigFile {
	readonly path: string;
	readonly text: string;
}

/** The project's file that counts for a folder: in it or above it, up to the root of the repository. */
export function findProjectFile(cwd: string): ConfigFile | undefined {
	for (let folder = cwd; ; folder = dirname(folder)) {
		const file = readFile(join(folder, ".agent-tmux.yaml"));
		if (file !== undefined) return file;
		if (existsSync(join(folder, ".git")) || dirname(folder) === folder) return undefined;
	}
}

/** What a project's file runs, or where it lets files be written, as keys with their values. */
export async function listCommands(file: ConfigFile): Promise<[string, string][]> {
	const tree = await parseTree(file);
	const commands = Object.entries(asTree(tree.providers)).flatMap(([name, provider]) =>
		COMMAND_KEYS.filter((key) => key in asTree(provider)).map((key): [string, string] => [
			`providers.${show(name)}.${key}`,
			show(asTree(provider)[key]),
		]),
	);
	const profiles = Object.entries(asTree(tree.tui_profiles)).map(([name, profile]): [string, string] => [
		`tui_profiles.${show(name)}`,
		JSON.stringify(profile),
	]);
	const { dir } = asTree(tree.dispatch);
	const folders: [string, string][] = dir === undefined ? [] : [["dispatch.dir", show(dir)]];
	return [...commands, ...profiles, ...folders];
}

/** A value in one line: what looks like another key would be taken for one. */
function show(value: unknown): string {
	return typeof value === "string" && !/[\n\r]/.test(value) ? value : JSON.stringify(value);
}

async function readProject(request: ConfigRequest): Promise<Tree> {
	const file = findProjectFile(request.cwd);
	if (file === undefined) return {};
	const tree = await readLayer(file, request);
	if (request.trustProject || isTrusted(request.env, file.path, file.text)) return tree;
	return withoutCommands(tree, file, request);
}

function readFile(path: string): ConfigFile | undefined {
	if (!existsSync(path)) return undefined;
	try {
		// Reading a pipe would wait for ever.
		if (!statSync(path).isFile()) throw new Error("it is no regular file");
		return { path, text: readFileSync(path, "utf8") };
	} catch (error) {
		throw new PaneError("config", `${path} cannot be read: ${(error as Error).message}`, { cause: error });
	}
}

async function readLayer(file: ConfigFile, request: ConfigRequest): Promise<Tree> {
	const tree = await parseTree(file);
	for (const key of Object.keys(tree)) if (!KNOWN.includes(key)) request.warn(`${file.path}: unknown key "${key}"`);
	return tree;
}

async function parseTree(file: ConfigFile): Promise<Tree> {
	const { parse } = await import("./yaml.ts");
	try {
		return asTree(parse(file.text));
	} catch (error) {
		throw new PaneError("config", `${file.path} cannot be read: ${(error as Error).message}`, { cause: error });
	}
}

/** What a project's file runs counts only when the user trusts this content, because opening a folder must run nothing. */
function withoutCommands(tree: Tree, file: ConfigFile, request: ConfigRequest): Tree {
	const providers: Record<string, unknown> = {};
	for (const [name, value] of Object.entries(asTree(tree.providers))) {
		const entries = Object.entries(asTree(value));
		if (entries.some(([key]) => COMMAND_KEYS.includes(key))) {
			request.warn(
				`commands of provider "${name}" in ${file.path} are ignored; ` +
					`look at them and trust them with: agent-tmux trust (or once with --trust-project)`,
			);
		}
		providers[name] = Object.fromEntries(entries.filter(([key]) => !COMMAND_KEYS.includes(key)));
	}
	const { dir, ...dispatch } = asTree(tree.dispatch);
	if (dir !== undefined) request.warn(`dispatch.dir in ${file.path} is ignored until you trust it: agent-tmux trust`);
	const { tui_profiles: profiles, ...others } = tree;
	// A profile says which questions are answered at a start, and could hide that a wall stands there.
	if (profiles !== undefined)
		request.warn(`tui_profiles in ${file.path} are ignored until you trust it: agent-tmux trust`);
	return { ...others, providers, dispatch };
}

function makeTable(layers: readonly Tree[], env: NodeJS.ProcessEnv): AgentTable {
	const names = new Set<string>(CLIS.map((cli) => cli.name));
	for (const layer of layers) for (const name of Object.keys(asTree(layer.providers))) names.add(name);
	const providers = new Map([...names].map((name) => [name, makeProvider(name, layers)] as const));
	const pins: Partial<Record<Role, { provider?: string; model?: string; effort?: string }>> = {};
	for (const role of ROLES) {
		const pin: { provider?: string; model?: string; effort?: string } = {};
		for (const field of ["provider", "model", "effort"] as const) {
			const value = leaf(layers, "agent", "profiles", role, field);
			if (value !== undefined) pin[field] = value;
		}
		pins[role] = pin;
	}
	return {
		providers,
		pins,
		session: knob("session", env.AGENT_TMUX_AGENT_SESSION, layers),
		workers: knob("workers", env.AGENT_TMUX_AGENT_WORKERS, layers),
	};
}

function knob(name: "session" | "workers", fromEnv: string | undefined, layers: readonly Tree[]): Sourced {
	if (fromEnv) return { value: fromEnv, source: `AGENT_TMUX_AGENT_${name.toUpperCase()}` };
	const configured = leaf(layers, "agent", name);
	return configured === undefined
		? { value: "claude", source: "built-in" }
		: { value: configured, source: `agent.${name}` };
}

function makeProvider(name: string, layers: readonly Tree[]): Provider {
	const cli = CLIS.find((candidate) => candidate.name === name);
	const own = (...path: string[]) => leaf(layers, "providers", name, ...path);
	const fills: Partial<Record<Role, Fill>> = {};
	for (const role of ROLES) {
		const fill: { model?: string; effort?: string } = {};
		for (const field of ["model", "effort"] as const) {
			// The flat spelling is an alias of the default profile of the same layer.
			const flat = role === "default" ? own(field) : undefined;
			const value = own("profiles", role, field) ?? flat ?? cli?.fills[role]?.[field];
			if (value !== undefined) fill[field] = value;
		}
		fills[role] = fill;
	}
	const native = own("native");
	return {
		interactive: own("interactive_command") ?? own("session_command") ?? cli?.interactive,
		headless: own("headless_command") ?? own("dispatch_command") ?? cli?.headless,
		isNative: native === undefined ? (cli?.isNative ?? false) : native === "true",
		fills,
		skillPrefix: cli?.skillPrefix ?? "/",
	};
}

function makeDispatch(layers: readonly Tree[], request: ConfigRequest): DispatchConfig {
	const mode = leaf(layers, "dispatch", "mode") ?? "native";
	const isKnown = mode === "native" || mode === "pane" || mode === "headless";
	if (!isKnown) request.warn(`dispatch.mode "${mode}" is unknown; using native`);
	const size = (key: string, fallback: number) => {
		const text = leaf(layers, "dispatch", key);
		const value = Number(text ?? fallback);
		if (value > 0) return value;
		request.warn(`dispatch.${key} needs a number above 0, not "${text}"; using ${fallback}`);
		return fallback;
	};
	return {
		mode: isKnown ? mode : "native",
		columnWidth: size("column_width", 45),
		floor: { columns: size("min_cols", 50), rows: size("min_rows", 20) },
		reapDone: (leaf(layers, "dispatch", "reap_done") ?? "true") === "true",
		dir: leaf(layers, "dispatch", "dir") ?? ".agent-dispatch",
	};
}

/** The first non-empty value at a path, as text. */
function leaf(layers: readonly Tree[], ...path: string[]): string | undefined {
	for (const layer of layers) {
		let node: unknown = layer;
		for (const key of path) node = asTree(node)[key];
		if (node !== undefined && node !== null && node !== "" && typeof node !== "object") return String(node);
	}
	return undefined;
}
