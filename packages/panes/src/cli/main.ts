import type { PaneErrorCode } from "../errors.ts";
import type { Command, CommandWorld } from "./command.ts";
import { COMMANDS } from "./index.ts";

/** Verbs whose exit code tells a missing pane (2) and a tmux failure (3) from other failures. */
const PRECISE = new Set(["open", "ready", "deliver", "window-name"]);

/** Runs a command line in a world and returns the exit code; every failure ends as a message for a person. */
export async function runMain(words: readonly string[], world: CommandWorld): Promise<number> {
	const [name = "--help", ...rest] = words;
	if (name === "hook") return runHook(rest, world);
	if (name === "--help" || name === "-h" || name === "help") return printHelp(world, rest[0]);
	if (name === "--version" || name === "-V") {
		const { default: manifest } = await import("../../package.json", { with: { type: "json" } });
		world.print(manifest.version);
		return 0;
	}
	const entry = COMMANDS.find((command) => command.name === name || command.aliases?.includes(name));
	if (entry === undefined) return rejectName(world, name);
	const command = await entry.load();
	const end = rest.indexOf("--");
	const own = end < 0 ? rest : rest.slice(0, end);
	if (own.some((word) => word === "--help" || word === "-h")) return printHelp(world, name, command);
	try {
		const { parseLine } = await import("./parse.ts");
		return await command.run(parseLine(command.spec, rest), world);
	} catch (error) {
		return reportFailure(world, command.spec.name, error, own.includes("--json"));
	}
}

/** A hook runs inside of another program: whatever happens, it says nothing and succeeds. */
async function runHook(words: readonly string[], world: CommandWorld): Promise<number> {
	const { writeFromHook } = await import("../hooks/write.ts");
	const input = process.stdin.isTTY ? undefined : process.stdin;
	const reply = await writeFromHook(words, { env: world.env, ppid: process.ppid, input, now: Date.now });
	if (reply !== "") world.print(reply);
	return 0;
}

async function reportFailure(world: CommandWorld, name: string, error: unknown, isJson: boolean): Promise<number> {
	const { PaneError } = await import("../errors.ts");
	const message = error instanceof Error ? error.message : String(error);
	const code = error instanceof PaneError ? error.code : "failed";
	const snippet = error instanceof PaneError ? error.snippet : undefined;
	world.note(`agent-tmux ${name}: ${message}`);
	if (snippet) world.note(`--- last rows ---\n${snippet}`);
	if (isJson) world.print(JSON.stringify({ ok: false, error: { code, message, reason: code } }));
	return exitCodeOf(name, code);
}

/** Exit code of a failure: 2 for a wrong call, else 1, except where a verb tells more. */
function exitCodeOf(name: string, code: PaneErrorCode | "failed"): number {
	if (code === "usage") return 2;
	if (!PRECISE.has(name)) return 1;
	return code === "pane_missing" ? 2 : code === "tmux" ? 3 : 1;
}

async function printHelp(world: CommandWorld, name: string | undefined, loaded?: Command): Promise<number> {
	const { commandHelp, overview } = await import("./help.ts");
	if (name === undefined) {
		world.print(overview());
		return 0;
	}
	const command = loaded ?? (await COMMANDS.find((entry) => entry.name === name)?.load());
	if (command === undefined) return rejectName(world, name);
	world.print(commandHelp(command.spec));
	return 0;
}

async function rejectName(world: CommandWorld, name: string): Promise<number> {
	const { suggestName } = await import("./suggest.ts");
	const near = suggestName(
		name,
		COMMANDS.map((entry) => entry.name),
	);
	const hint = near === undefined ? "" : ` Did you mean "${near}"?`;
	world.note(`agent-tmux: unknown command "${name}".${hint} See: agent-tmux --help`);
	return 2;
}
