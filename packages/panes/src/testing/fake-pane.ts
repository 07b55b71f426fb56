import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { fakeAgentPath } from "@prime-agent/testkit";
import { withShellFallback } from "../compose/shell.ts";
import { realClock, TIMINGS, type Timings } from "../drive/clock.ts";
import type { Drive } from "../drive/context.ts";
import { quoteWord } from "../tmux/arguments.ts";
import { captureTail } from "../tmux/pane.ts";
import { type PrivateServer, until } from "./tmux-server.ts";

const MAIN = fileURLToPath(new URL("../main.ts", import.meta.url));

/** The fake agent's `--hooks`: the command that an installed hook runs, for a CLI whose process is called node. */
export const HOOKS = [process.execPath, "--no-warnings", MAIN, "hook", "--agent", "gemini"].map(quoteWord).join(" ");

/** Waiting times for tests: the same algorithms with shorter rests. */
export const QUICK: Timings = {
	...TIMINGS,
	settle: 60,
	echo: 1500,
	look: 20,
	stability: 120,
	reaction: 1500,
	awaitPoll: 50,
	activeGrace: 3000,
	readyPoll: 100,
	pasteEcho: 5000,
	sendRound: 300,
	sendPoll: 40,
	start: 100,
	launchPoll: 60,
	afterDismiss: 100,
	waitPoll: 50,
	rolloutWindow: 250,
	dispatchTick: 50,
};

/** One line of the fake agent's log. */
export interface FakeLogEntry {
	readonly type: string;
	readonly text?: string;
	readonly key?: string;
}

let counter = 0;

/** The fake agent's command line and the log it will write. */
export function fakeCommand(server: PrivateServer, args: readonly string[]): { words: string[]; log: FakeLog } {
	counter += 1;
	const path = join(server.folder, `agent-${counter}.log`);
	return { words: [process.execPath, fakeAgentPath, ...args, "--log", path], log: new FakeLog(path) };
}

/** What the fake agent says it received. */
export class FakeLog {
	readonly #path: string;

	constructor(path: string) {
		this.#path = path;
	}

	entries(): FakeLogEntry[] {
		if (!existsSync(this.#path)) return [];
		const lines = readFileSync(this.#path, "utf8").split("\n");
		return lines.slice(0, -1).map((line) => JSON.parse(line) as FakeLogEntry);
	}

	messages(): string[] {
		return this.entries().flatMap((entry) => (entry.type === "message" ? [entry.text ?? ""] : []));
	}

	keys(): string[] {
		return this.entries().flatMap((entry) => (entry.type === "key" ? [entry.key ?? ""] : []));
	}
}

/** Starts the fake agent in a pane and waits until it takes keys. */
export async function startFake(
	server: PrivateServer,
	args: readonly string[],
	options: { width?: number; height?: number; shellFallback?: boolean; isUp?: boolean } = {},
): Promise<{ pane: string; log: FakeLog }> {
	const { words, log } = fakeCommand(server, args);
	const command = words.map(quoteWord).join(" ");
	const pane = await server.open(options.shellFallback ? withShellFallback(command) : `exec ${command}`, options);
	if (options.isUp ?? true)
		await until(() => log.entries().some((entry) => entry.type === "started"), "the fake agent");
	if (options.isUp ?? true) await until(async () => (await captureTail(server.tmux, pane, 5)).length > 0, "its screen");
	return { pane, log };
}

/** A drive for tests on a private server, with the warnings it gave. */
export function makeDrive(server: PrivateServer, timings: Timings = QUICK): Drive & { readonly warnings: string[] } {
	const warnings: string[] = [];
	return {
		tmux: server.tmux,
		clock: realClock,
		timings,
		env: server.env,
		warnings,
		warn: (message) => warnings.push(message),
	};
}
