import { resolve as resolvePath } from "node:path";
import { CLIS, findCli } from "../clis/index.ts";
import { readTextFile } from "../drive/files.ts";
import { classify } from "../screen/classify.ts";
import type { Command } from "./command.ts";
import { printResult } from "./drive.ts";
import { usage } from "./parse.ts";

/** `agent-tmux classify` */
export const classifyCommand: Command = {
	spec: {
		name: "classify",
		form: "--cli NAME --screen FILE [--ansi FILE] [--title T] [--dead]",
		summary: "Say what a captured screen shows: ready, busy, blocked (waits for a person), dead or unknown.",
		flags: {
			cli: { value: "NAME", help: "whose screen it is" },
			screen: { value: "FILE", help: "output of tmux capture-pane -p" },
			ansi: { value: "FILE", help: "output of tmux capture-pane -p -e; tells a placeholder from a draft" },
			title: { value: "T", help: "title of the pane; for codex the only sign of a streaming reply" },
			dead: { help: "tmux says that the program has ended" },
			json: { help: "print one JSON document" },
		},
		arity: [0, 0],
	},
	run: async (line, world) => {
		const name = line.text("cli");
		const path = line.text("ansi") ?? line.text("screen");
		if (name === undefined || path === undefined) throw usage(classifyCommand.spec, "--cli and --screen are needed");
		const cli = findCli(name);
		if (cli === undefined) {
			throw usage(classifyCommand.spec, `unknown CLI "${name}"; known: ${CLIS.map((each) => each.name).join(", ")}`);
		}
		const rows = readTextFile(resolvePath(world.cwd, path)).replace(/\n$/, "").split("\n");
		const capture = { rows, isStyled: line.has("ansi"), title: line.text("title"), isDead: line.has("dead") };
		const none = { word: capture.isDead ? "dead" : "unknown", rule: "no-screens", composer: undefined } as const;
		const { word, rule, composer } = cli.screen === undefined ? none : classify(cli.screen, capture);
		const draft = composer === undefined ? null : composer.lines.join("\n");
		printResult(line, world, { word, rule, cli: name, draft }, word);
		return 0;
	},
};
