import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
	type Drive,
	endSession,
	launchSession,
	readTurnState,
	realClock,
	sendAndWait,
	TIMINGS,
	Tmux,
} from "@prime-agent/panes";
import { fakeAgentPath } from "@prime-agent/testkit";
import type { Figure } from "./measure.ts";

// What one look at a session costs where the agent writes down its turns: a fake Codex on a tmux server of its own.

const SESSION = "bench";
const folder = await mkdtemp(join(tmpdir(), "bench-"));
const env: NodeJS.ProcessEnv = {
	...{ PATH: process.env.PATH, HOME: folder, CODEX_HOME: join(folder, ".codex"), TMUX_TMPDIR: folder },
	...{ LANG: "C.UTF-8", SHELL: "/bin/sh", TERM: "xterm-256color" },
};

function makeDrive(): Drive {
	const warn = (message: string) => console.error(message);
	return { tmux: new Tmux({ name: "bench" }, { env }), clock: realClock, timings: TIMINGS, env, warn };
}

let failure: string | undefined;
const start = launchFake().catch((error: unknown) => {
	failure = error instanceof Error ? error.message : String(error);
});

async function launchFake(): Promise<void> {
	const words = [process.execPath, fakeAgentPath, "--style", "codex", "--rollout", "events"];
	const size = { width: 120, height: 40 };
	await launchSession(makeDrive(), { name: SESSION, words, profile: "codex", cwd: folder, timeoutMs: 60_000, size });
	await sendAndWait(makeDrive(), SESSION, "hello", { capMs: 60_000, lines: 1 });
}

async function unavailable(): Promise<string | undefined> {
	await start;
	return failure;
}

/** One look; the word and its source are checked, so that a cheap wrong answer is no good figure. */
async function look(): Promise<{ calls: number; ms: number }> {
	const drive = makeDrive();
	const started = performance.now();
	const { state, producer } = await readTurnState(drive, SESSION);
	const ms = performance.now() - started;
	if (state !== "idle" || producer !== "idle") throw new Error(`the session is ${state}, its record says ${producer}`);
	return { calls: drive.tmux.calls, ms };
}

/** What `bench/run.ts` measures. */
export const figures: Figure[] = [
	{
		name: "agent-tmux state with a record, tmux calls",
		unit: "calls",
		limit: 3,
		floorName: "one look",
		floor: async () => 1,
		subject: async () => (await look()).calls,
		unavailable,
	},
	{
		name: "agent-tmux state with a record, time",
		unit: "ms",
		floorName: "one tmux call",
		floor: async () => {
			const started = performance.now();
			await makeDrive().tmux.run(["display-message", "-p", "x"]);
			return performance.now() - started;
		},
		subject: async () => (await look()).ms,
		unavailable,
	},
];

/** Ends the fake agent with its server and removes its folder. */
export async function close(): Promise<void> {
	await start;
	const drive = makeDrive();
	await endSession(drive, SESSION, { force: true });
	await drive.tmux.ask(["kill-server"]);
	await rm(folder, { recursive: true, force: true, maxRetries: 5 });
}
