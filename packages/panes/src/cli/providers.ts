import type { AgentCli } from "../clis/cli.ts";
import { CLIS } from "../clis/index.ts";
import type { Command } from "./command.ts";
import { usage } from "./parse.ts";

/** `agent-tmux providers` */
export const providers: Command = {
	spec: {
		name: "providers",
		form: "[NAME] [--json]",
		summary: "Print what is known about the agent CLIs: commands, how to list models, quirks that were seen.",
		flags: { json: { help: "print one JSON document" } },
		arity: [0, 1],
	},
	run: async (line, world) => {
		const [name] = line.positionals;
		const chosen = CLIS.filter((cli) => name === undefined || cli.name === name);
		if (chosen.length === 0)
			throw usage(providers.spec, `unknown provider "${name}"; known: ${CLIS.map((cli) => cli.name).join(", ")}`);
		if (line.has("json")) world.print(JSON.stringify(chosen.map(describeCli)));
		else world.print(chosen.map(drawCli).join("\n\n"));
		return 0;
	},
};

function describeCli(cli: AgentCli): object {
	return {
		name: cli.name,
		interactive: cli.interactive,
		headless: cli.headless,
		native: cli.isNative ?? false,
		prompt_channel: cli.promptChannel,
		structured: cli.structured ?? null,
		resume: cli.resume ?? null,
		discovery: cli.discovery,
		skill_prefix: cli.skillPrefix,
		reads_screen: cli.screen !== undefined,
		reads_record: cli.record !== undefined,
		interrupt: cli.keys.interrupt,
		queue_key: cli.keys.queue ?? null,
		walls: cli.walls.map((wall) => wall.name),
		quirks: cli.quirks,
	};
}

function drawCli(cli: AgentCli): string {
	const rows: [string, string][] = [
		["interactive", cli.interactive],
		["headless", cli.headless],
		["prompt", cli.promptChannel],
		["structured", cli.structured ?? "-"],
		["resume", cli.resume ?? "-"],
		["models", cli.discovery.join(" ; ")],
		["interrupt", cli.keys.interrupt.join(" ")],
		["walls", cli.walls.map((wall) => wall.name).join(", ") || "-"],
	];
	return [
		cli.name,
		...rows.map(([name, text]) => `  ${name.padEnd(12)}${text}`),
		...cli.quirks.map((quirk) => `  * ${quirk}`),
	].join("\n");
}
