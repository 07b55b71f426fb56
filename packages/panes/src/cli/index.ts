import type { Command } from "./command.ts";

/** Headings of the overview. */
export const GROUPS = {
	session: "Sessions by name",
	pane: "Panes by id",
	agent: "Agent CLIs",
	dispatch: "Workers with records",
} as const;

/** One line of the overview and where the command is found; nothing is loaded before it is called. */
export interface CommandEntry {
	readonly name: string;
	readonly group: keyof typeof GROUPS;
	readonly summary: string;
	/** Other names of the same command. */
	readonly aliases?: readonly string[];
	readonly load: () => Promise<Command>;
}

/** All commands in the order of the overview. */
export const COMMANDS: readonly CommandEntry[] = [
	{
		name: "launch",
		group: "session",
		summary: "start an agent CLI in a session and wait until it takes input",
		load: async () => (await import("./launch.ts")).launch,
	},
	{
		name: "send",
		group: "session",
		summary: "send a message and prove that it was taken or queued",
		load: async () => (await import("./send.ts")).send,
	},
	{
		name: "state",
		group: "session",
		summary: "whether the turn is over: busy, idle, blocked, dead ... (trust this one)",
		load: async () => (await import("./turns.ts")).state,
	},
	{
		name: "status",
		group: "session",
		summary: "what the screen alone says; cheap, and it can be wrong",
		load: async () => (await import("./turns.ts")).status,
	},
	{
		name: "rollout",
		group: "session",
		summary: "whether the agent's own record grows: grew, quiet or unknown",
		load: async () => (await import("./turns.ts")).rollout,
	},
	{
		name: "wait",
		group: "session",
		summary: "block until the turn is over",
		load: async () => (await import("./turns.ts")).wait,
	},
	{
		name: "send-wait",
		group: "session",
		summary: "send, wait, and print the last rows",
		load: async () => (await import("./turns.ts")).sendWait,
	},
	{
		name: "interrupt",
		group: "session",
		summary: "stop the running turn",
		load: async () => (await import("./interrupt.ts")).interrupt,
	},
	{
		name: "watch",
		group: "session",
		summary: "block until a file appears, the turn is over or the session ends",
		load: async () => (await import("./turns.ts")).watch,
	},
	{
		name: "peek",
		group: "session",
		summary: "print the last rows of a session",
		load: async () => (await import("./look.ts")).peek,
	},
	{
		name: "list",
		group: "session",
		summary: "names of the running sessions",
		load: async () => (await import("./look.ts")).list,
	},
	{
		name: "resume",
		group: "session",
		summary: "launch the last conversation of a folder again",
		load: async () => (await import("./launch.ts")).resume,
	},
	{
		name: "kill",
		group: "session",
		summary: "end a session or a pane",
		load: async () => (await import("./kill.ts")).kill,
	},
	{
		name: "open",
		group: "pane",
		summary: "open a provider's interactive command in a pane",
		load: async () => (await import("./open.ts")).open,
	},
	{
		name: "ready",
		group: "pane",
		summary: "whether a pane accepts typed input: ready, booting or parked",
		load: async () => (await import("./deliver.ts")).ready,
	},
	{
		name: "deliver",
		group: "pane",
		summary: "hand over a one-line prompt with full verification",
		load: async () => (await import("./deliver.ts")).deliver,
	},
	{
		name: "await",
		group: "pane",
		summary: "block until a pane's agent reaches a state or a file appears",
		load: async () => (await import("./await.ts")).awaitCommand,
	},
	{
		name: "capture",
		group: "pane",
		summary: "print the last rows of a pane with its agent state",
		load: async () => (await import("./look.ts")).capture,
	},
	{
		name: "map",
		group: "pane",
		summary: "list panes with the state of their agents",
		aliases: ["panes"],
		load: async () => (await import("./look.ts")).map,
	},
	{
		name: "window-name",
		group: "pane",
		summary: "put a prefix before a window's name, or replace it",
		load: async () => (await import("./window-name.ts")).windowName,
	},
	{
		name: "process",
		group: "pane",
		summary: "the tree of processes in a pane",
		load: async () => (await import("./look.ts")).processTree,
	},
	{
		name: "print",
		group: "agent",
		summary: "print the command line of a role, a stage or a provider",
		load: async () => (await import("./print.ts")).print,
	},
	{
		name: "run",
		group: "agent",
		summary: "run that command line in this terminal",
		load: async () => (await import("./print.ts")).run,
	},
	{
		name: "providers",
		group: "agent",
		summary: "what is known about each agent CLI",
		load: async () => (await import("./providers.ts")).providers,
	},
	{
		name: "trust",
		group: "agent",
		summary: "let a project's configuration name commands",
		load: async () => (await import("./trust.ts")).trust,
	},
	{
		name: "hooks",
		group: "agent",
		summary: "let agent CLIs report their state: install, uninstall, status",
		load: async () => (await import("./hooks.ts")).hooks,
	},
	{
		name: "classify",
		group: "agent",
		summary: "say what a captured screen shows",
		load: async () => (await import("./classify.ts")).classifyCommand,
	},
	{
		name: "skill",
		group: "agent",
		summary: "print or install the skills that teach all this to an agent",
		load: async () => (await import("./skill.ts")).skill,
	},
	{
		name: "dispatch",
		group: "dispatch",
		summary: "start, prompt, watch and end workers whose files are kept",
		load: async () => (await import("./dispatch.ts")).dispatch,
	},
];
