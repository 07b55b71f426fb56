import { PaneError } from "../errors.ts";
import { HARNESSES } from "../hooks/harness.ts";
import {
	applyChange,
	chooseHarnesses,
	type HookChange,
	planInstall,
	planUninstall,
	readHookStatus,
} from "../hooks/install.ts";
import { findTool } from "../hooks/tool.ts";
import type { Command, CommandWorld, ParsedLine } from "./command.ts";
import { printResult } from "./drive.ts";
import { usage } from "./parse.ts";

/** `agent-tmux hooks` */
export const hooks: Command = {
	spec: {
		name: "hooks",
		form: "(install | uninstall | status) [--agent A] [--yes | --dry-run]",
		summary: "Let agent CLIs report their state through their own hooks, and take that back.",
		flags: {
			agent: { value: "A", help: "one agent CLI; default: all that are on PATH" },
			yes: { short: "y", help: "do not ask" },
			"dry-run": { help: "print the files as they are and as they would be" },
			json: { help: "print one JSON document" },
		},
		arity: [1, 1],
		notes: [
			"Hooks of others stay as they are. An uninstall gives back the very bytes from before, unless the file was",
			`changed in between; then only our entries are taken out. Known: ${HARNESSES.map((each) => each.name).join(", ")}.`,
		],
	},
	run: async (line, world) => {
		const [verb = ""] = line.positionals;
		if (verb === "status") return runStatus(line, world);
		if (verb !== "install" && verb !== "uninstall") throw usage(hooks.spec, `unknown verb "${verb}"`);
		const chosen = chooseHarnesses(line.text("agent"), world.env);
		const tool = findTool(process.argv[1], world.env);
		const changes = chosen.flatMap((harness) => {
			const change = verb === "install" ? planInstall(harness, tool, world.env) : planUninstall(harness, world.env);
			return change === undefined ? [] : [change];
		});
		if (changes.length === 0) {
			const why = chosen.length === 0 ? "no agent CLI with hooks is on PATH" : "nothing to do";
			printResult(line, world, { changed: [] }, why);
			return 0;
		}
		if (line.has("dry-run")) {
			for (const change of changes) world.print(drawChange(change));
			return 0;
		}
		if (!line.has("yes")) await askConsent(world, verb, changes);
		for (const change of changes) applyChange(change, world.env);
		const done = verb === "install" ? "installed" : "uninstalled";
		const notes = changes.flatMap(({ harness }) => (verb === "install" && harness.note ? [harness.note] : []));
		const text = changes.map(({ harness, path }) => `${done} ${harness.name} (${path})`);
		printResult(
			line,
			world,
			{ changed: changes.map(({ harness, path }) => ({ agent: harness.name, path })) },
			text.join("\n"),
		);
		for (const note of notes) world.note(note);
		return 0;
	},
};

function runStatus(line: ParsedLine, world: CommandWorld): number {
	const name = line.text("agent");
	const chosen = name === undefined ? HARNESSES : chooseHarnesses(name, world.env);
	const rows = chosen.map((harness) => readHookStatus(harness, world.env));
	const text = rows.map((row) => `${row.agent}: ${row.state}${row.isOnPath ? "" : " (not on PATH)"}  ${row.path}`);
	printResult(line, world, rows, text.join("\n"));
	return 0;
}

async function askConsent(world: CommandWorld, verb: string, changes: readonly HookChange[]): Promise<void> {
	const list = changes.map(({ harness, path }) => `  ${harness.name}: ${path}`).join("\n");
	world.note(`This would ${verb} hooks in:\n${list}`);
	const answer = await world.ask("Go on? [y/N] ");
	if (answer === undefined) {
		throw new PaneError("refused", "there is no terminal to ask on; repeat with --yes, or look with --dry-run");
	}
	if (!/^y(?:es)?$/i.test(answer.trim())) throw new PaneError("refused", "nothing was changed");
}

function drawChange({ path, before, after }: HookChange): string {
	return [`--- ${path} (now)`, before ?? "(no file)", `+++ ${path} (then)`, after ?? "(no file)"].join("\n");
}
