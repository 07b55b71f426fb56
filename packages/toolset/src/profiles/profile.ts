import type { ExecutionEnvironment } from "../environment/environment.ts";
import { createEditTool } from "../tools/edit.ts";
import { createPatchTool } from "../tools/patch/tool.ts";
import type { PathLocks } from "../tools/paths.ts";
import { createReadManyTool, createReadTool } from "../tools/read.ts";
import { createGlobTool, createGrepTool, createListTool } from "../tools/search.ts";
import { type CommandTimeouts, createShellTool } from "../tools/shell.ts";
import type { CodingTool } from "../tools/tool.ts";
import { createWriteTool } from "../tools/write.ts";
import { baseInstructions } from "./instructions.ts";
import type { ProviderName } from "./models.ts";

/** What the tools of a session are made of. */
export interface ToolParts {
	environment: ExecutionEnvironment;
	/** Shared by every session that works on the same files. */
	locks: PathLocks;
	timeouts: CommandTimeouts;
	/** The model can see images. */
	hasVision: boolean;
}

/** How a provider's models are set to work: instructions, tools, names of project documents. */
export interface Profile {
	provider: ProviderName;
	/** The first layer of the system prompt. */
	instructions: string;
	/** Names of instruction files that hold for this provider, in the order in which they are read. */
	documentNames: readonly string[];
	/** Milliseconds that a command may take unless the session or the call says otherwise. */
	commandTimeoutMs: number;
	/** In a fixed order, so that the beginning of each request stays the same. */
	createTools(parts: ToolParts): CodingTool[];
}

const profiles: Record<ProviderName, Profile> = {
	anthropic: {
		provider: "anthropic",
		instructions: baseInstructions.anthropic,
		documentNames: ["AGENTS.md", "CLAUDE.md"],
		commandTimeoutMs: 120_000,
		createTools: ({ environment, locks, timeouts, hasVision }) => [
			createReadTool(environment, hasVision),
			createWriteTool(environment, locks),
			createEditTool(environment, locks),
			createShellTool(environment, timeouts),
			createGrepTool(environment, true),
			createGlobTool(environment),
		],
	},
	openai: {
		provider: "openai",
		instructions: baseInstructions.openai,
		documentNames: ["AGENTS.md", ".codex/instructions.md"],
		commandTimeoutMs: 10_000,
		createTools: ({ environment, locks, timeouts, hasVision }) => [
			createReadTool(environment, hasVision),
			createWriteTool(environment, locks),
			createPatchTool(environment, locks),
			createShellTool(environment, timeouts),
			createGrepTool(environment, false),
			createGlobTool(environment),
		],
	},
	gemini: {
		provider: "gemini",
		instructions: baseInstructions.gemini,
		documentNames: ["AGENTS.md", "GEMINI.md"],
		commandTimeoutMs: 10_000,
		createTools: ({ environment, locks, timeouts, hasVision }) => [
			createReadTool(environment, hasVision),
			createReadManyTool(environment, hasVision),
			createWriteTool(environment, locks),
			createEditTool(environment, locks),
			createShellTool(environment, timeouts),
			createGrepTool(environment, false),
			createGlobTool(environment),
			createListTool(environment),
		],
	},
};

/** The profile of a provider. */
export function findProfile(provider: ProviderName): Profile {
	return profiles[provider];
}
