import { resolve as resolvePath } from "node:path";
import { callOptions, rest } from "../drive/context.ts";
import { fileExists } from "../drive/files.ts";
import { readStatus, tmuxName } from "../drive/session.ts";
import { readRollout, readTurnState } from "../drive/turn.ts";
import { sendAndWait, waitForIdle } from "../drive/wait.ts";
import { findSessionPane } from "../tmux/session.ts";
import type { Command, CommandWorld, ParsedLine } from "./command.ts";
import { MODE_FLAG, makeDrive, printResult, SERVER_FLAGS, secondsFromEnv } from "./drive.ts";
import { usage } from "./parse.ts";

const FAST = { fast: { help: "trust the screen and one look" } } as const;

/** `agent-tmux status` */
export const status: Command = {
	spec: {
		name: "status",
		form: "NAME",
		summary: "Say what the screen shows: busy, idle, starting, blocked, unknown or dead. It can be wrong.",
		flags: SERVER_FLAGS,
		arity: [1, 1],
	},
	run: async (line, world) => {
		const word = await readStatus(makeDrive(line, world), line.positionals[0] ?? "");
		printResult(line, world, { status: word }, word);
		return 0;
	},
};

/** `agent-tmux state` */
export const state: Command = {
	spec: {
		name: "state",
		form: "NAME [WINDOW]",
		summary: "Say whether the turn is over, from the screen and the agent's own record together.",
		flags: SERVER_FLAGS,
		arity: [1, 2],
		notes: [
			"busy, idle, starting, dead; blocked: waits for a person; idle-unconfirmed: the screen is idle and nothing",
			"confirms it; unknown: the screen is not understood. WINDOW is the number of seconds (6) for which a record",
			"without turn events must be quiet.",
		],
	},
	run: async (line, world) => {
		const window = secondsAt(line, 1, state) ?? 6;
		const turn = await readTurnState(makeDrive(line, world), line.positionals[0] ?? "", window * 1000);
		printResult(line, world, turn, turn.state);
		return 0;
	},
};

/** `agent-tmux rollout` */
export const rollout: Command = {
	spec: {
		name: "rollout",
		form: "NAME [WINDOW]",
		summary: "Say whether the agent's own record grew within WINDOW seconds (6): grew, quiet or unknown.",
		flags: SERVER_FLAGS,
		arity: [1, 2],
	},
	run: async (line, world) => {
		const window = secondsAt(line, 1, rollout) ?? 6;
		const word = await readRollout(makeDrive(line, world), line.positionals[0] ?? "", window * 1000);
		printResult(line, world, { rollout: word }, word);
		return 0;
	},
};

/** `agent-tmux wait` */
export const wait: Command = {
	spec: {
		name: "wait",
		form: "NAME [CAP] [--fast]",
		summary: "Block until the turn is over: idle (exit 0), or timeout, blocked, dead (exit 1).",
		flags: { ...FAST, ...SERVER_FLAGS },
		arity: [1, 2],
		notes: ["CAP is the limit in seconds (300; AGENT_TMUX_CAP). Two looks in a row must say idle."],
	},
	run: async (line, world) => {
		const capMs = capOf(line, world, 1, wait);
		const word = await waitForIdle(makeDrive(line, world), line.positionals[0] ?? "", {
			capMs,
			fast: line.has("fast"),
		});
		printResult(line, world, { waited: word }, word);
		return word === "idle" ? 0 : 1;
	},
};

/** `agent-tmux send-wait` */
export const sendWait: Command = {
	spec: {
		name: "send-wait",
		form: "NAME MESSAGE [CAP] [LINES] [--clear] [--force] [--fast]",
		summary: "Send a message, wait for the turn that it starts, print the last LINES (40) rows.",
		flags: {
			clear: { help: "drop text that stands in the composer" },
			force: { help: "send a text that the CLI is known to change" },
			...FAST,
			...MODE_FLAG,
			...SERVER_FLAGS,
		},
		arity: [2, 4],
		notes: ["Exit 1 when the wait ended with timeout, blocked or dead; the rows are printed all the same."],
	},
	run: async (line, world) => {
		const [name = "", message = ""] = line.positionals;
		const options = { clear: line.has("clear"), force: line.has("force"), fast: line.has("fast") };
		const lines = secondsAt(line, 3, sendWait) ?? 40;
		const capMs = capOf(line, world, 2, sendWait);
		const result = await sendAndWait(makeDrive(line, world), name, message, { ...options, capMs, lines });
		printResult(line, world, result, result.reply);
		if (result.waited === "idle") return 0;
		world.note(result.waited);
		return 1;
	},
};

/** `agent-tmux watch` */
export const watch: Command = {
	spec: {
		name: "watch",
		form: "NAME --artifact PATH [--poll S]",
		summary:
			"Block until a file appears (artifact), the turn is over (idle), a person is asked (blocked) or all ends (dead).",
		flags: {
			artifact: { value: "PATH", help: "file that the agent writes when it has finished" },
			poll: { value: "S", help: "seconds between two looks (15)" },
			...SERVER_FLAGS,
		},
		arity: [1, 1],
	},
	run: async (line, world) => {
		const artifact = line.text("artifact");
		if (artifact === undefined) throw usage(watch.spec, "--artifact is missing");
		const pollMs = (line.number("poll", 0) ?? 15) * 1000;
		const word = await watchFor(line, world, resolvePath(world.cwd, artifact), pollMs);
		printResult(line, world, { watched: word }, word);
		return word === "dead" ? 1 : 0;
	},
};

async function watchFor(line: ParsedLine, world: CommandWorld, path: string, pollMs: number): Promise<string> {
	const drive = makeDrive(line, world);
	const name = line.positionals[0] ?? "";
	let previous = "";
	for (;;) {
		if (fileExists(path)) return "artifact";
		const pane = await findSessionPane(drive.tmux, tmuxName(drive, name), callOptions(drive));
		const word = pane === undefined ? "dead" : (await readTurnState(drive, name)).state;
		if (word === "dead") return fileExists(path) ? "artifact" : "dead";
		const isEnd = word === "idle" || word === "idle-unconfirmed" || word === "blocked";
		if (isEnd && previous === word) return word === "blocked" ? "blocked" : "idle";
		previous = word;
		await rest(drive, pollMs);
	}
}

function capOf(line: ParsedLine, world: CommandWorld, at: number, command: Command): number {
	return (secondsAt(line, at, command) ?? secondsFromEnv(world, "AGENT_TMUX_CAP", 300)) * 1000;
}

function secondsAt(line: ParsedLine, at: number, command: Command): number | undefined {
	const text = line.positionals[at];
	if (text === undefined) return undefined;
	const value = Number(text);
	if (text.trim() === "" || !Number.isFinite(value) || value < 0) throw usage(command.spec, `"${text}" is no number`);
	return value;
}
