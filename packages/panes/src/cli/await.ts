import { resolve as resolvePath } from "node:path";
import { AGENT_WORDS, type AgentWord } from "../drive/agent-state.ts";
import { type AwaitRequest, awaitPanes, awaitReady } from "../drive/await.ts";
import type { Drive } from "../drive/context.ts";
import { notify } from "../drive/notify.ts";
import { openPaneIO } from "../drive/pane-io.ts";
import type { Command, CommandWorld, ParsedLine } from "./command.ts";
import { makeDrive, printResult, SERVER_FLAGS } from "./drive.ts";
import { usage } from "./parse.ts";
import { resolveTarget } from "./target.ts";

/** `agent-tmux await` */
export const awaitCommand: Command = {
	spec: {
		name: "await",
		form: "TARGET... [--until S,S] [--file PATH] [options]",
		summary: "Block until an agent reaches a state, a file appears, or the pane is gone.",
		flags: {
			until: { value: "S,S", help: "states that end the wait: active, waiting, idle (idle)" },
			file: { value: "PATH", help: "a file whose appearance ends the wait" },
			screen: { value: "RE", help: "a pattern that must newly appear on the screen" },
			"after-active": { help: "count a state only after the agent was active" },
			any: { help: "several targets; the first that fires wins" },
			ready: { help: "wait until the pane takes input instead" },
			timeout: { value: "S", help: "limit in seconds (300; with --ready 25; 0: none)" },
			notify: { value: "CMD", help: "shell command that gets the report as its argument" },
			...SERVER_FLAGS,
		},
		arity: [1, Number.POSITIVE_INFINITY],
		notes: [
			"Prints the state, `file`, `screen`, `running` (the time is over, exit 0) or `gone` (exit 1).",
			"A file outranks a state, a state a dead pane. A pane without a state needs --file or --screen.",
		],
	},
	run: async (line, world) => {
		const drive = makeDrive(line, world);
		return line.has("ready") ? runReady(line, world, drive) : runAwait(line, world, drive);
	},
};

async function runAwait(line: ParsedLine, world: CommandWorld, drive: Drive): Promise<number> {
	if (!line.has("any") && line.positionals.length > 1) throw usage(awaitCommand.spec, "several targets need --any");
	const file = line.text("file");
	const request: AwaitRequest = {
		until: readStates(line),
		file: file === undefined ? undefined : resolvePath(world.cwd, file),
		screen: readPattern(line),
		afterActive: line.has("after-active"),
		timeoutMs: (line.number("timeout", 0) ?? 300) * 1000,
	};
	const panes = await Promise.all(line.positionals.map((target) => resolveTarget(drive, target)));
	const ids = panes.map((pane) => pane.id);
	if (new Set(ids).size !== ids.length) throw usage(awaitCommand.spec, "two targets are the same pane");
	const result = await awaitPanes(
		drive,
		ids.map((id) => openPaneIO(drive, id)),
		request,
	);
	const report =
		line.has("any") && result.word !== "file" && result.word !== "running"
			? `${result.word} ${result.pane}`
			: result.word;
	await finish(line, world, report, {
		...{ report: result.word, target: result.pane, elapsed_ms: result.elapsedMs },
		...(result.word === "running" ? { hint: "call again" } : {}),
		...(result.word === "gone" ? goneFailure(result.pane) : {}),
	});
	return result.word === "gone" ? 1 : 0;
}

async function runReady(line: ParsedLine, world: CommandWorld, drive: Drive): Promise<number> {
	for (const flag of ["until", "file", "screen", "after-active", "any"]) {
		if (line.has(flag)) throw usage(awaitCommand.spec, `--ready and --${flag} exclude each other`);
	}
	if (line.positionals.length > 1) throw usage(awaitCommand.spec, "--ready takes one target");
	const pane = await resolveTarget(drive, line.positionals[0] ?? "");
	const { word, detail, snippet } = await awaitReady(
		drive,
		openPaneIO(drive, pane.id),
		(line.number("timeout", 0) ?? 25) * 1000,
	);
	if (snippet !== "") world.note(snippet);
	const text =
		word === "ready" || word === "narrow"
			? `${word} ${pane.id} (${detail})`
			: word === "parked"
				? `parked ${pane.id}`
				: word;
	await finish(line, world, text, {
		...{ report: word, target: pane.id, ...(detail === "" ? {} : { detail }) },
		...(word === "gone" ? goneFailure(pane.id) : {}),
	});
	return word === "gone" ? 1 : 0;
}

/** What is added to the report of a failed wait, so that it reads like every other failure. */
function goneFailure(pane: string): object {
	return { ok: false, error: { code: "gone", message: `${pane} ended while it was waited for`, reason: "gone" } };
}

async function finish(line: ParsedLine, world: CommandWorld, text: string, document: object): Promise<void> {
	const command = line.text("notify");
	if (command !== undefined) await notify(command, text);
	printResult(line, world, document, text);
}

function readStates(line: ParsedLine): AgentWord[] {
	const words = (line.text("until") ?? "idle").split(",");
	const known = words.filter((word): word is AgentWord => (AGENT_WORDS as readonly string[]).includes(word));
	if (known.length !== words.length || new Set(words).size !== words.length) {
		throw usage(
			awaitCommand.spec,
			`--until needs different states of ${AGENT_WORDS.join(", ")}, not "${words.join(",")}"`,
		);
	}
	return known;
}

function readPattern(line: ParsedLine): RegExp | undefined {
	const text = line.text("screen");
	if (text === undefined) return undefined;
	try {
		return new RegExp(text, "mu");
	} catch (error) {
		throw usage(awaitCommand.spec, `--screen: ${(error as Error).message}`);
	}
}
