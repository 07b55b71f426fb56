import { resolve as resolvePath } from "node:path";
import { loadConfig } from "../clis/config.ts";
import { appendArguments } from "../compose/command.ts";
import { commandOf, describeAgent, resolveAgent, templateOf } from "../compose/resolve.ts";
import { runShell } from "../drive/run.ts";
import type { Command, CommandWorld, FlagSpec, ParsedLine } from "./command.ts";
import { usage } from "./parse.ts";

const FLAGS = {
	provider: { value: "P", help: "provider; alone it bypasses roles and their models" },
	model: { value: "M", help: "model; empty clears it" },
	effort: { value: "E", help: "effort; empty clears it" },
	workers: { value: "P", help: "provider that the started agent uses for its own workers" },
	repo: { value: "DIR", help: "read the configuration of this folder" },
	"trust-project": { help: "let the project's file name commands" },
	headless: { help: "the one-shot form, with the prompt on standard input" },
} as const satisfies Record<string, FlagSpec>;

/** `agent-tmux print` */
export const print: Command = {
	spec: {
		name: "print",
		form: "[ROLE | STAGE] [--provider P] [options] [-- ARGS...]",
		summary: "Print the command line for a role, a stage or a provider.",
		flags: {
			...FLAGS,
			template: { short: "t", help: "print the template with its placeholders" },
			output: { short: "o", value: "FORMAT", help: "print everything that was resolved, as yaml or json" },
		},
		arity: [0, 1],
		takesRest: true,
		notes: [
			"Roles: default, operator, doing, review, hydrate, fast. Stages: intake, apply, review, hydrate, ship, review-pr.",
			"The built-in commands run without asking for permissions; the configuration replaces them.",
		],
	},
	run: async (line, world) => {
		const isTemplate = line.has("template");
		const output = line.text("output");
		if (isTemplate && output !== undefined) throw usage(print.spec, "--template and --output exclude each other");
		if (isTemplate && (line.has("model") || line.has("effort"))) {
			throw usage(print.spec, "--template shows the placeholders, so --model and --effort have no place");
		}
		if (output !== undefined && output !== "yaml" && output !== "json")
			throw usage(print.spec, "--output is yaml or json");
		const agent = await resolveLine(line, world);
		const form = line.has("headless") ? "headless" : "interactive";
		if (isTemplate) world.print(templateOf(agent, form));
		else if (output === undefined) world.print(appendArguments(commandOf(agent, form), line.rest));
		else if (output === "json") world.print(JSON.stringify(describeAgent(agent, form)));
		else
			world.print((await import("../clis/yaml.ts")).stringify(describeAgent(agent, form), { lineWidth: 0 }).trimEnd());
		return 0;
	},
};

/** `agent-tmux run` */
export const run: Command = {
	spec: {
		name: "run",
		form: "[ROLE | STAGE] [--provider P] [options] [-- ARGS...]",
		summary: "Run the command line that `print` shows, in this terminal.",
		flags: FLAGS,
		arity: [0, 1],
		takesRest: true,
	},
	run: async (line, world) => {
		if (line.has("headless")) throw usage(run.spec, "--headless only prints: use agent-tmux print --headless");
		const agent = await resolveLine(line, world);
		const workers = line.text("workers");
		const env = workers === undefined ? world.env : { ...world.env, AGENT_TMUX_AGENT_WORKERS: workers };
		return runShell(appendArguments(commandOf(agent, "interactive"), line.rest), env);
	},
};

async function resolveLine(line: ParsedLine, world: CommandWorld) {
	const cwd = resolvePath(world.cwd, line.text("repo") ?? ".");
	const warn = (message: string) => world.note(`warning: ${message}`);
	const config = await loadConfig({ cwd, env: world.env, warn, trustProject: line.has("trust-project") });
	return resolveAgent(config.table, {
		...{ selector: line.positionals[0], provider: line.text("provider") },
		...{ model: line.text("model"), effort: line.text("effort") },
	});
}
