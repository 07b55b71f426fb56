import type { Clock, StreamFn } from "@prime-agent/loop";
import type { ExecutionEnvironment } from "../environment/environment.ts";
import type { PermissionGate } from "../permissions.ts";
import type { ModelAccess } from "../profiles/access.ts";
import type { Profile } from "../profiles/profile.ts";
import { buildSystemPrompt } from "../profiles/system-prompt.ts";
import type { PathLocks } from "../tools/paths.ts";
import type { SessionListener } from "./events.ts";
import { type SessionTool, ToolRegistry } from "./registry.ts";
import { SecretStore } from "./secrets.ts";
import { defaultSettings, type SessionSettings } from "./settings.ts";

/** What a coding session is made of. */
export interface SessionOptions {
	profile: Profile;
	access: ModelAccess;
	environment: ExecutionEnvironment;
	/** Asks the model; should be guarded against hanging. */
	streamFn: StreamFn;
	/** Decides which calls may run. Default: all. */
	gate?: PermissionGate | undefined;
	/** Further tools; one with the name of a profile's tool replaces it. */
	tools?: readonly SessionTool[];
	settings?: Partial<SessionSettings>;
	listener?: SessionListener | undefined;
	/** Default: the clock of the machine. */
	clock?: Clock;
	/** YYYY-MM-DD. Default: the machine's date. */
	today?: string;
}

/** What a session works with, made once. */
export interface SessionSetup {
	settings: SessionSettings;
	registry: ToolRegistry;
	systemPrompt: string;
}

/**
 * Makes the settings, the tools and the system prompt of a session. `extras` are the tools by which it drives subagents,
 * if it may; sessions that work on the same files share `locks`.
 */
export async function setUpSession(
	options: SessionOptions,
	locks: PathLocks,
	extras: (settings: SessionSettings) => readonly SessionTool[],
): Promise<SessionSetup> {
	const { profile, environment, access } = options;
	const settings = { ...defaultSettings, ...options.settings };
	const own = profile.createTools({
		environment,
		locks,
		timeouts: {
			usual: settings.commandTimeoutMs ?? profile.commandTimeoutMs,
			longest: settings.maxCommandTimeoutMs,
		},
		hasVision: access.model.input.includes("image"),
	});
	const tools = [...own, ...extras(settings), ...(options.tools ?? [])];
	const registry = new ToolRegistry(tools, {
		limits: settings.outputLimits,
		secrets: new SecretStore(environment, access.apiKey),
	});
	const systemPrompt = await buildSystemPrompt({
		environment,
		profile,
		model: access.model,
		tools: registry.list(),
		today: options.today ?? new Date().toISOString().slice(0, 10),
		userInstructions: settings.userInstructions,
	});
	return { settings, registry, systemPrompt };
}
