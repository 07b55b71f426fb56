import { agy } from "./agy.ts";
import { claude } from "./claude.ts";
import type { AgentCli } from "./cli.ts";
import { codex } from "./codex.ts";
import { copilot } from "./copilot.ts";
import { gemini } from "./gemini.ts";
import { kimi } from "./kimi.ts";
import { opencode } from "./opencode.ts";
import { pi } from "./pi.ts";
import { qwen } from "./qwen.ts";

/** The agent CLIs that are known by name, in alphabetical order. */
export const CLIS: readonly AgentCli[] = [agy, claude, codex, copilot, gemini, kimi, opencode, pi, qwen];

/** The agent CLI of a name, or undefined. */
export function findCli(name: string): AgentCli | undefined {
	return CLIS.find((cli) => cli.name === name);
}

/** The agent CLI whose process has this name as the kernel reports it, or undefined. */
export function findCliByProcess(processName: string): AgentCli | undefined {
	const name = processName.toLowerCase();
	return CLIS.find((cli) => cli.processes.includes(name));
}
