import { resolve as resolvePath } from "node:path";
import { deliverText } from "../drive/deliver.ts";
import { fileExists } from "../drive/files.ts";
import { openPaneIO } from "../drive/pane-io.ts";
import { probeReadiness } from "../drive/probe.ts";
import { PaneError } from "../errors.ts";
import type { Command, CommandWorld, ParsedLine } from "./command.ts";
import { MODE_FLAG, makeDrive, printResult, SERVER_FLAGS, serverLine } from "./drive.ts";
import { usage } from "./parse.ts";
import { resolveTarget } from "./target.ts";

/** `agent-tmux ready` */
export const ready: Command = {
	spec: {
		name: "ready",
		form: "TARGET",
		summary: "Type a harmless word, take it back, and say whether the pane accepts input: ready, booting or parked.",
		flags: {
			"allow-shell": { help: "also probe a shell prompt" },
			"allow-cooked": { help: "also probe a terminal that only echoes" },
			...MODE_FLAG,
			...SERVER_FLAGS,
		},
		arity: [1, 1],
		notes: ["For panes that you own and that have not been given work. Exit 2: no such pane, 3: tmux failed."],
	},
	run: async (line, world) => {
		const drive = makeDrive(line, world);
		const pane = await resolveTarget(drive, line.positionals[0] ?? "");
		const allow = { allowShell: line.has("allow-shell"), allowCooked: line.has("allow-cooked") };
		const { word, reason, snippet } = await probeReadiness(drive, openPaneIO(drive, pane.id), allow);
		const server = drive.tmux.address.name ?? null;
		const rows = snippet === "" ? "" : `\n--- last 20 lines ---\n${snippet}`;
		const text = word === "ready" ? word : `${word}\npane: ${pane.id}${serverLine(drive, line)}${rows}`;
		printResult(line, world, { state: word, pane: pane.id, server, snippet, reason }, text);
		return 0;
	},
};

/** `agent-tmux deliver` */
export const deliver: Command = {
	spec: {
		name: "deliver",
		form: "TARGET (--text TEXT | --prompt-file PATH)",
		summary: "Hand a one-line prompt to a fresh agent: ready, echo, Enter and reaction are each verified.",
		flags: {
			text: { value: "TEXT", help: "the prompt, one line" },
			"prompt-file": { value: "PATH", help: "file with the prompt; the agent is told to read it" },
			...MODE_FLAG,
			...SERVER_FLAGS,
		},
		arity: [1, 1],
		notes: [
			"PATH is typed as given, so it must mean the same in the pane's folder. Exit 2: no such pane, 3: tmux failed.",
		],
	},
	run: async (line, world) => {
		const payload = readPayload(line, world);
		const drive = makeDrive(line, world);
		const pane = await resolveTarget(drive, line.positionals[0] ?? "");
		await deliverText(drive, openPaneIO(drive, pane.id), payload.text);
		const what = payload.path === undefined ? "text" : `prompt ${payload.path}`;
		const source = payload.path === undefined ? { source: "text" } : { source: "prompt", path: payload.path };
		printResult(line, world, { pane: pane.id, ...source }, `delivered ${pane.id} (${what})`);
		return 0;
	},
};

function readPayload(line: ParsedLine, world: CommandWorld): { text: string; path?: string } {
	const text = line.text("text");
	const path = line.text("prompt-file");
	if ((text === undefined) === (path === undefined))
		throw usage(deliver.spec, "give exactly one of --text and --prompt-file");
	if (path !== undefined) {
		if (fileExists(resolvePath(world.cwd, path))) return { text: `Read ${path} and execute it.`, path };
		throw new PaneError("prompt_missing", `there is no file ${path}; nothing was typed`);
	}
	if (text === undefined || text.trim() === "") throw usage(deliver.spec, "the text is empty");
	if (/[\r\n]/.test(text))
		throw usage(deliver.spec, "the text has several lines: write it to a file and use --prompt-file");
	return { text };
}
