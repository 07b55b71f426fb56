import { basename, isAbsolute, resolve as resolvePath } from "node:path";
import { loadConfig } from "../clis/config.ts";
import { findCli } from "../clis/index.ts";
import { type LaunchRequest, launchSession } from "../drive/launch.ts";
import { PaneError } from "../errors.ts";
import type { Command, CommandWorld, FlagSpec, ParsedLine } from "./command.ts";
import { makeDrive, printResult, SERVER_FLAGS, secondsFromEnv } from "./drive.ts";
import { usage } from "./parse.ts";

const FLAGS = {
	cwd: { short: "c", value: "DIR", help: "folder to start in" },
	timeout: { value: "S", help: "seconds until the prompt must be seen (60; AGENT_TMUX_TIMEOUT)" },
	profile: {
		value: "P",
		help: "how to read the screen, of `tui_profiles` or a known CLI; default: the program's name",
	},
	ready: { value: "RE", help: "pattern that means ready, instead of the profile's rules" },
	busy: { value: "RE", help: "pattern that means busy; tested before ready" },
	"boot-log": { value: "PATH", help: "file for everything the program prints while it starts" },
	size: { value: "WxH", help: "size of the session (220x50)" },
	replace: { help: "end a running session of this name first" },
	"no-dismiss": { help: "leave notices and surveys for a person" },
	"accept-walls": { help: "answer trust and key questions with yes" },
	keep: { help: "keep the session when the prompt was never seen" },
	"allow-oneshot": { help: "start a one-shot command although it takes no input" },
	"trust-project": { help: "let the project's file say how screens are read" },
	...SERVER_FLAGS,
} as const satisfies Record<string, FlagSpec>;

/** `agent-tmux launch` */
export const launch: Command = {
	spec: {
		name: "launch",
		form: "NAME [options] -- COMMAND...",
		summary: "Start an interactive agent CLI in a detached session and return when it takes input.",
		flags: FLAGS,
		arity: [1, 1],
		takesRest: true,
		notes: [
			"Prints `ready`. Trust, login and key walls are reported as blocked and stay unanswered, unless",
			"--accept-walls is given. One-shot forms (codex exec, claude -p) are refused: nothing could be sent to them.",
		],
	},
	run: async (line, world) => {
		const [name = ""] = line.positionals;
		if (line.rest.length === 0) throw usage(launch.spec, "the command is missing: put it after --");
		await start(line, world, name, line.rest);
		return 0;
	},
};

/** `agent-tmux resume` */
export const resume: Command = {
	spec: {
		name: "resume",
		form: "NAME --cwd DIR [--profile P] [--session ID] [options]",
		summary: "Launch the newest conversation of a folder again, found in the agent's own records.",
		flags: { ...FLAGS, session: { value: "ID", help: "conversation to continue; default: the newest of the folder" } },
		arity: [1, 1],
		notes: ["Commit the work in the folder first, so that its state has a name."],
	},
	run: async (line, world) => {
		const [name = ""] = line.positionals;
		const profile = line.text("profile") ?? "codex";
		const cli = findCli(profile);
		if (cli?.resume === undefined) throw usage(resume.spec, `"${profile}" has no known way to resume`);
		const id = line.text("session") ?? (await findSession(line, world, profile));
		const words = cli.resume.split(" ").map((word) => word.replace("{id}", id));
		await start(line, world, name, words, profile);
		return 0;
	},
};

async function findSession(line: ParsedLine, world: CommandWorld, profile: string): Promise<string> {
	const record = findCli(profile)?.record;
	const cwd = folderOf(line, world) ?? world.cwd;
	const source = await record?.find({ cwd, pids: [], cmdlines: [], env: world.env });
	const id = source === undefined ? undefined : await record?.sessionId?.(source);
	if (id !== undefined) return id;
	throw new PaneError("no_record", `no recorded ${profile} conversation of ${cwd}; name one with --session ID`);
}

async function start(
	line: ParsedLine,
	world: CommandWorld,
	name: string,
	words: readonly string[],
	profile = line.text("profile"),
): Promise<void> {
	const drive = makeDrive(line, world);
	const seconds = line.number("timeout", 0) ?? secondsFromEnv(world, "AGENT_TMUX_TIMEOUT", 60);
	const cwd = folderOf(line, world) ?? world.cwd;
	const config = await loadConfig({
		...{ cwd, env: world.env, warn: drive.warn, trustProject: line.has("trust-project") },
	});
	const request: LaunchRequest = {
		...{
			name,
			words,
			profile,
			tui: config.findTui(profile ?? basename(words[0] ?? "")),
			ready: line.text("ready"),
			busy: line.text("busy"),
		},
		...{ cwd: folderOf(line, world), bootLog: absolute(line.text("boot-log"), world), size: readSize(line) },
		...{ timeoutMs: seconds * 1000, replace: line.has("replace"), keepNotices: line.has("no-dismiss") },
		...{ acceptWalls: line.has("accept-walls"), keep: line.has("keep"), allowOneShot: line.has("allow-oneshot") },
	};
	const view = await launchSession(drive, request);
	printResult(line, world, { ok: true, name, pane: view.io.id, profile: view.profile.name, state: "ready" }, "ready");
}

function folderOf(line: ParsedLine, world: CommandWorld): string | undefined {
	return absolute(line.text("cwd"), world);
}

function absolute(path: string | undefined, world: CommandWorld): string | undefined {
	if (path === undefined) return undefined;
	return isAbsolute(path) ? path : resolvePath(world.cwd, path);
}

function readSize(line: ParsedLine): { width: number; height: number } {
	const text = line.text("size") ?? "220x50";
	const match = /^(\d{2,4})x(\d{1,4})$/.exec(text);
	if (match === null) throw usage(launch.spec, `--size needs WIDTHxHEIGHT, not "${text}"`);
	return { width: Number(match[1]), height: Number(match[2]) };
}
