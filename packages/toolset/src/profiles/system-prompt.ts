import type { ExecutionEnvironment } from "../environment/environment.ts";
import { listRepositoryFolders, loadProjectDocuments } from "../project-docs.ts";
import type { CodingTool } from "../tools/tool.ts";
import { findKnowledgeCutoff, type ModelFacts } from "./models.ts";
import type { Profile } from "./profile.ts";

const gitTimeoutMs = 5000;
const shownCommits = 10;

// A repository's own settings may name programs that Git runs; nobody has allowed those.
const harmless = "-c core.fsmonitor=false -c core.hooksPath=/dev/null -c safe.bareRepository=explicit";

// To compare files Git runs the filters that a repository's own settings name; then the state is left out.
const endWithFilters =
	"git config --show-scope --get-regexp '^filter[.].*[.](clean|process)$' | grep -qE '^(local|worktree)' && exit 1; ";

/** What a Git command prints; `undefined` if it fails or takes too long. */
async function runGit(environment: ExecutionEnvironment, args: string, before = ""): Promise<string | undefined> {
	try {
		const command = `${before}git --no-optional-locks ${harmless} ${args}`;
		const { exitCode, stdout } = await environment.execCommand({ command, timeoutMs: gitTimeoutMs });
		return exitCode === 0 ? stdout.trimEnd() : undefined;
	} catch {
		// The prompt is complete without the lines about Git.
		return undefined;
	}
}

function countStatus(status: string): string {
	const lines = status === "" ? [] : status.split("\n");
	const untracked = lines.filter((line) => line.startsWith("??")).length;
	return `${lines.length - untracked} modified, ${untracked} untracked`;
}

async function describeGit(environment: ExecutionEnvironment): Promise<string[]> {
	// Outside of repositories, where Git would say the same, nothing is started.
	if (!(await listRepositoryFolders(environment))) return ["Is git repository: false"];
	const [branch, status, commits] = await Promise.all([
		runGit(environment, "branch --show-current"),
		runGit(environment, "status --porcelain", endWithFilters),
		runGit(environment, `log -${shownCommits} --format=%s`),
	]);
	const lines = ["Is git repository: true"];
	if (branch) lines.push(`Git branch: ${branch}`);
	if (status !== undefined) lines.push(`Git status at the start: ${countStatus(status)}`);
	if (commits) lines.push("Latest commits:", ...commits.split("\n").map((subject) => `- ${subject}`));
	return lines;
}

async function describeEnvironment(
	environment: ExecutionEnvironment,
	profile: Profile,
	model: ModelFacts,
	today: string,
) {
	const cutoff = findKnowledgeCutoff(profile.provider, model.id);
	const lines = [
		`Working directory: ${environment.workingDirectory()}`,
		...(await describeGit(environment)),
		`Platform: ${environment.platform()}`,
		`OS version: ${environment.osVersion()}`,
		`Today's date: ${today}`,
		`Model: ${model.name}`,
		...(cutoff === undefined ? [] : [`Knowledge cutoff: ${cutoff}`]),
	];
	return `<environment>\n${lines.join("\n")}\n</environment>`;
}

function listTools(tools: readonly { name: string; description: string }[]): string {
	const firstSentence = (text: string) => /^.*?[.:](?=\s|$)/s.exec(text)?.[0].replace(/:$/, ".") ?? text;
	return `Tools:\n${tools.map((tool) => `- ${tool.name}: ${firstSentence(tool.description)}`).join("\n")}`;
}

/** What a system prompt is made of. */
export interface PromptParts {
	environment: ExecutionEnvironment;
	profile: Profile;
	model: ModelFacts;
	tools: readonly Pick<CodingTool, "name" | "description">[];
	/** YYYY-MM-DD. */
	today: string;
	/** The last layer; wins over all before. */
	userInstructions?: string | undefined;
}

/**
 * The system prompt in its layers: the profile's instructions, the environment, the tools, the project's documents, the
 * user's instructions. Built once per session, so that every request begins alike.
 */
export async function buildSystemPrompt(parts: PromptParts): Promise<string> {
	const { environment, profile, model, tools, today, userInstructions } = parts;
	const [documents, surroundings] = await Promise.all([
		loadProjectDocuments(environment, profile.documentNames),
		describeEnvironment(environment, profile, model, today),
	]);
	const layers = [
		profile.instructions,
		surroundings,
		listTools(tools),
		...documents.map(({ path, content }) => `Project instructions from ${path}:\n${content.trimEnd()}`),
		...(userInstructions ? [userInstructions] : []),
	];
	return layers.join("\n\n");
}
