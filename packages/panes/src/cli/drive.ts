import { realClock, TIMINGS } from "../drive/clock.ts";
import type { Drive } from "../drive/context.ts";
import { PaneError } from "../errors.ts";
import { chooseServer, Tmux } from "../tmux/server.ts";
import type { CommandWorld, FlagSpec, ParsedLine } from "./command.ts";

/** Flags that every verb on panes and sessions takes. */
export const SERVER_FLAGS = {
	server: { short: "L", value: "NAME", help: "tmux server, as for tmux -L" },
	json: { help: "print one JSON document" },
} as const satisfies Record<string, FlagSpec>;

/** Flag that refuses to end a tmux mode that a person is in. */
export const MODE_FLAG = {
	"respect-human": { help: "refuse instead of leaving copy-mode" },
} as const satisfies Record<string, FlagSpec>;

/** Makes the drive of a command line: its server, the machine's clock and the place for warnings. */
export function makeDrive(line: ParsedLine, world: CommandWorld): Drive {
	return {
		tmux: new Tmux(chooseServer(line.text("server"), world.env), { env: world.env }),
		clock: realClock,
		timings: TIMINGS,
		env: world.env,
		warn: (message) => world.note(`warning: ${message}`),
		signal: world.signal,
		respectMode: line.has("respect-human"),
	};
}

/** Whether the server was named on the command line; an empty name counts as absent. */
export function namesServer(line: ParsedLine): boolean {
	return (line.text("server") ?? "") !== "";
}

/** Prints a JSON document or the text, as the command line asks. */
export function printResult(line: ParsedLine, world: CommandWorld, document: object, text: string): void {
	world.print(line.has("json") ? JSON.stringify(document) : text);
}

/** The `server:` line that follows a report on another server. */
export function serverLine(drive: Drive, line: ParsedLine): string {
	return namesServer(line) ? `\nserver: ${drive.tmux.address.name}` : "";
}

/** A number of seconds from the environment; throws `PaneError` naming the variable when it holds something else. */
export function secondsFromEnv(world: CommandWorld, name: string, fallback: number): number {
	const text = world.env[name];
	if (!text) return fallback;
	const value = Number(text);
	if (Number.isFinite(value) && value >= 0) return value;
	throw new PaneError("config", `${name} needs a number of seconds, not "${text}"`);
}
