/** What a hook tells: a state, or only which session runs. */
export const HOOK_TOKENS = ["active", "waiting", "idle", "stamp"] as const;
/** One of the words that a hook command ends with. */
export type HookToken = (typeof HOOK_TOKENS)[number];

/** One event of a harness and what it means. */
export interface HookEvent {
	readonly event: string;
	readonly token: HookToken;
	/** Which kinds of the event count, in the harness's own pattern language. */
	readonly matcher?: string;
}

/** How one agent CLI is told to report its state. */
export interface Harness {
	readonly name: string;
	/** Program that must be on PATH. */
	readonly program: string;
	/** Name of the agent's process, to find it above the hook's throw-away shell. */
	readonly comm: string;
	/** Field of the event's JSON that names the session. */
	readonly sessionField: string;
	/** Where the hooks are configured, from the home folder and the environment. */
	readonly path: (home: string, env: NodeJS.ProcessEnv) => string;
	/** How the file is written: entries merged into JSON, a block in TOML, or a file of our own. */
	readonly format: "claude-json" | "copilot-json" | "kimi-toml" | "opencode-plugin";
	readonly events: readonly HookEvent[];
	/** What the user must do himself afterwards. */
	readonly note?: string;
	/** What the hook must print, for a harness that reads its output. */
	readonly reply?: string;
}

const turn = (
	active: readonly string[],
	waiting: readonly HookEvent[],
	idle: readonly HookEvent[],
	stamp: readonly string[],
) => [
	...active.map((event): HookEvent => ({ event, token: "active" })),
	...waiting,
	...idle,
	...stamp.map((event): HookEvent => ({ event, token: "stamp" })),
];

const waits = (event: string, matcher?: string): HookEvent =>
	matcher === undefined ? { event, token: "waiting" } : { event, token: "waiting", matcher };
const ends = (event: string, matcher?: string): HookEvent =>
	matcher === undefined ? { event, token: "idle" } : { event, token: "idle", matcher };

/** The harnesses whose hooks can report a state. A session start tells no state: it also fires in the middle of a turn. */
export const HARNESSES: readonly Harness[] = [
	{
		name: "claude",
		program: "claude",
		comm: "claude",
		sessionField: "session_id",
		path: (home, env) => `${env.CLAUDE_CONFIG_DIR || `${home}/.claude`}/settings.json`,
		format: "claude-json",
		events: turn(
			["UserPromptSubmit", "PreToolUse"],
			[waits("Notification", "permission_prompt|elicitation_dialog|agent_needs_input")],
			[ends("Stop"), ends("Notification", "idle_prompt")],
			["SessionStart"],
		),
	},
	{
		name: "codex",
		program: "codex",
		comm: "codex",
		sessionField: "session_id",
		path: (home, env) => `${env.CODEX_HOME || `${home}/.codex`}/hooks.json`,
		format: "claude-json",
		events: turn(
			["UserPromptSubmit", "PreToolUse"],
			[waits("PermissionRequest")],
			[ends("Stop"), ends("SessionEnd")],
			["SessionStart"],
		),
		note: "codex runs the hooks only after you have trusted them there with /hooks",
	},
	{
		name: "gemini",
		program: "gemini",
		comm: "node",
		sessionField: "session_id",
		path: (home) => `${home}/.gemini/settings.json`,
		format: "claude-json",
		events: turn(
			["BeforeAgent", "BeforeTool"],
			[waits("Notification", "ToolPermission")],
			[ends("AfterAgent"), ends("SessionEnd")],
			["SessionStart"],
		),
	},
	{
		name: "copilot",
		program: "copilot",
		comm: "copilot",
		sessionField: "sessionId",
		path: (home, env) => `${env.COPILOT_HOME || `${home}/.copilot`}/hooks/agent-tmux.json`,
		format: "copilot-json",
		events: turn(
			["userPromptSubmitted", "preToolUse"],
			[waits("permissionRequest"), waits("notification")],
			[ends("agentStop"), ends("notification", "agent_idle")],
			["sessionStart"],
		),
	},
	{
		name: "opencode",
		program: "opencode",
		comm: "opencode",
		sessionField: "sessionID",
		path: (home, env) => `${env.XDG_CONFIG_HOME || `${home}/.config`}/opencode/plugin/agent-tmux.js`,
		format: "opencode-plugin",
		events: turn(["session.status"], [waits("permission.updated")], [ends("session.idle")], ["session.created"]),
	},
	{
		name: "kimi",
		program: "kimi",
		comm: "kimi-code",
		sessionField: "session_id",
		path: (home, env) => `${env.KIMI_CODE_HOME || `${home}/.kimi-code`}/config.toml`,
		format: "kimi-toml",
		events: turn(["TurnStarted", "PreToolUse"], [waits("PermissionRequest")], [ends("Stop")], ["SessionStart"]),
	},
	{
		name: "agy",
		program: "agy",
		comm: "agy",
		sessionField: "conversationId",
		path: (home) => `${home}/.gemini/config/hooks.json`,
		format: "claude-json",
		events: turn(["PreInvocation"], [], [ends("Stop")], []),
		reply: "{}",
	},
];

/** The harness of a name, or undefined. */
export function findHarness(name: string): Harness | undefined {
	return HARNESSES.find((harness) => harness.name === name);
}
