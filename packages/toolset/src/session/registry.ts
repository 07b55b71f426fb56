import type { AgentTool } from "@prime-agent/loop";
import { type CodingTool, explainFailure, type ToolClass, ToolFailure, textResult } from "../tools/tool.ts";
import { findOutputLimit, type OutputLimitOverrides, truncateOutput } from "../truncation.ts";
import type { SecretStore } from "./secrets.ts";

/** Any loop tool; one that is not of this package counts as able to do anything. */
export type SessionTool = AgentTool & Partial<Pick<CodingTool, "toolClass" | "describeCall">>;

/** One call in words. */
export interface CallDescription {
	toolClass: ToolClass;
	label: string;
	/** Whole, with any characters it has. */
	subject: string;
}

/** What is written below `.git` decides which programs Git runs, so that it is as good as a command. */
const gitFolder = /(^|[\s/\\])\.git($|[\s/\\])/i;

function compactJson(args: unknown): string {
	const text = JSON.stringify(args) ?? "";
	return text === "{}" ? "" : text;
}

/** What holds for the output of every tool of a session. */
export interface OutputRules {
	limits: OutputLimitOverrides;
	/** What no tool may show. */
	secrets: SecretStore;
}

/** Runs a call and tells a failure as a result. */
async function runTool(tool: SessionTool, secrets: SecretStore, call: Parameters<AgentTool["execute"]>) {
	try {
		await secrets.learn(call[1]);
		const mark = tool.toolClass === "write" ? secrets.findMark(call[1]) : undefined;
		if (mark !== undefined) {
			throw new ToolFailure(
				`${mark} stands for a value that you cannot see, and writing it would lose the value. Change only what is around it, or ask for it to be changed by hand.`,
			);
		}
		return await tool.execute(...call);
	} catch (error) {
		return textResult({ text: explainFailure(tool.name, error), isError: true });
	}
}

/** The tool with cut output for the model and the whole in the details; it never rejects. */
function ruleOutput(tool: SessionTool, { limits, secrets }: OutputRules): SessionTool {
	const limit = findOutputLimit(tool.name, limits);
	return {
		...tool,
		async execute(...call) {
			const result = await runTool(tool, secrets, call);
			const texts = result.content.filter((part) => part.type === "text");
			const output = secrets.hide(texts.map((part) => part.text).join("\n"));
			const shown = truncateOutput(output, limit);
			const others = result.content.filter((part) => part.type !== "text");
			return { ...result, content: [{ type: "text", text: shown }, ...others], details: { output } };
		},
	};
}

/** The tools of a session by name; a later tool of the same name replaces an earlier one in its place. */
export class ToolRegistry {
	readonly #tools = new Map<string, SessionTool>();

	constructor(tools: readonly SessionTool[], rules: OutputRules) {
		for (const tool of tools) this.#tools.set(tool.name, ruleOutput(tool, rules));
	}

	/** In a fixed order. */
	list(): AgentTool[] {
		return [...this.#tools.values()];
	}

	/** What a call of a tool is about, whatever the model sent as arguments. */
	async describe(name: string, args: unknown): Promise<CallDescription> {
		const tool = this.#tools.get(name);
		const description = { toolClass: tool?.toolClass ?? ("shell" as const), label: tool?.label ?? name };
		if (!tool?.describeCall) return { ...description, subject: compactJson(args) };
		try {
			const subject = await tool.describeCall(args);
			const runsLater = description.toolClass === "write" && gitFolder.test(subject);
			return { ...description, ...(runsLater ? { toolClass: "shell" as const } : {}), subject };
		} catch {
			// Arguments of a wrong shape: the validation of the call says what is wrong with them.
			return { ...description, subject: "" };
		}
	}
}
