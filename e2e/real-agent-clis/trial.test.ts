import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
	type Drive,
	endSession,
	interruptSession,
	launchSession,
	PaneError,
	readTurnState,
	realClock,
	sendAndWait,
	sendToSession,
	TIMINGS,
	Tmux,
	waitForIdle,
} from "@prime-agent/panes";
import { describe, expect, it } from "vitest";
import { CLIS, type RealCli } from "./clis.ts";
import { LenientModel } from "./lenient-model.ts";

/**
 * Drives the real programs against a model server on the loopback. Opt-in, because they must be installed first, each
 * in a folder of its name below a prefix:
 *
 *     mkdir -p PREFIX/codex && npm install --prefix PREFIX/codex @openai/codex@0.171.0
 *     REAL_AGENT_CLIS=PREFIX vitest run e2e/real-agent-clis -t codex
 */
const prefix = process.env.REAL_AGENT_CLIS;

const POLLS = Number(process.env.REAL_AGENT_CLIS_POLLS ?? 200);

const TEXTS = [
	"hello there",
	"$(x) `y` \"q\" 'z' ~ #{x};",
	"two\nlines",
	"日本語 🙂 é שלום",
	"/home/user/file is a path",
	"? what",
	"@a #b",
	"-n dash",
	"!shell",
	"ends with \\",
	"a\ttab",
	`long ${"x".repeat(5000)}`,
];

describe.skipIf(prefix === undefined)("the real agent CLIs (set REAL_AGENT_CLIS to where they are installed)", () => {
	it.each(CLIS.map((cli) => [cli.name, cli] as const))(
		"%s takes texts, queues, is busy while it works, stops and ends",
		async (name, cli) => {
			await using model = new LenientModel();
			const url = await model.start();
			const home = mkdtempSync(join(tmpdir(), "real-"));
			const cwd = join(home, "project");
			mkdirSync(cwd);
			const env: NodeJS.ProcessEnv = {
				PATH: `${prefix}/${name}/node_modules/.bin:${process.execPath.replace(/\/[^/]+$/, "")}:${process.env.PATH}`,
				...{ HOME: home, LANG: "C.UTF-8", TERM: "xterm-256color", SHELL: "/bin/sh", TMUX_TMPDIR: home },
				...cli.configure(home, cwd, url),
			};
			const tmux = new Tmux({ name: "real" }, { env });
			const drive: Drive = { tmux, clock: realClock, timings: TIMINGS, env, warn: (message) => console.warn(message) };
			try {
				const size = { width: 120, height: 40 };
				await launchSession(drive, { name: "real", words: cli.words, cwd, timeoutMs: 120_000, size });
				expect(await sendAll(drive, cli, model)).toEqual([]);
				await holdAndPoll(drive, name, model);
				await sendToSession(drive, "real", "again HOLD", { clear: true });
				await waitForBusy(drive);
				expect((await interruptSession(drive, "real")).isInterrupted).toBe(true);
				expect(await waitForIdle(drive, "real", { capMs: 60_000 })).toBe("idle");
				expect(await endSession(drive, "real")).toBe(true);
				await tmux.ask(["kill-server"]);
				expect(listProcesses(home)).toEqual([]);
				const others = [...new Set(model.otherPaths), ...model.unknownFields];
				console.log(
					`${name}: ${model.requests.length} requests; paths and fields that are new here: ${others.join(", ")}`,
				);
				expect(model.faults).toEqual([]);
			} finally {
				await endSession(drive, "real", { force: true });
				await tmux.ask(["kill-server"]);
				rmSync(home, { recursive: true, force: true, maxRetries: 5 });
			}
		},
		900_000,
	);
});

/** Sends every text and returns those that neither arrived as they were nor were refused with a reason. */
async function sendAll(drive: Drive, cli: RealCli, model: LenientModel): Promise<string[]> {
	const lost: string[] = [];
	for (const text of TEXTS) {
		const before = model.requests.length;
		try {
			await sendAndWait(drive, "real", text, { capMs: 60_000, lines: 1, clear: true });
		} catch (error) {
			if (error instanceof PaneError && error.code === "refused") continue;
			throw error;
		}
		const seen = model.texts().slice(before);
		const sees = cli.sees ?? ((sent: string, got: string) => got === sent);
		if (!seen.some((each) => sees(text, each)))
			lost.push(`${text.slice(0, 40)} -> ${JSON.stringify(seen).slice(0, 200)}`);
	}
	return lost;
}

/** Over many looks into a held turn the state is never idle and nearly always busy, and idle soon after its end. */
async function holdAndPoll(drive: Drive, name: string, model: LenientModel): Promise<void> {
	const before = model.requests.length;
	await sendToSession(drive, "real", "please HOLD this", { clear: true });
	await waitForBusy(drive);
	expect(["queued", "submitted"]).toContain(await sendToSession(drive, "real", "second while busy"));
	const words: string[] = [];
	for (let poll = 0; poll < POLLS; poll++) {
		// At random moments, so that no rhythm of the screen is missed.
		await new Promise((resolve) => setTimeout(resolve, Math.random() * 100));
		words.push((await readTurnState(drive, "real", 100)).state);
	}
	const busy = words.filter((word) => word === "busy").length;
	model.release();
	const delay = await measureIdle(drive, model, before);
	console.log(
		`${name}: ${POLLS} polls of a held turn, ${busy} busy, ${count(words, "idle")} idle; idle ${delay} ms after the end`,
	);
	expect(words).not.toContain("idle");
	expect(busy).toBeGreaterThanOrEqual(POLLS * 0.95);
	expect(delay).toBeLessThanOrEqual(3000);
	expect(await waitForIdle(drive, "real", { capMs: 60_000 })).toBe("idle");
}

/** Milliseconds from the last byte of the model's last answer to the first look that says idle. */
async function measureIdle(drive: Drive, model: LenientModel, before: number): Promise<number> {
	let said: object = {};
	for (const end = Date.now() + 60_000; Date.now() < end; ) {
		const turn = await readTurnState(drive, "real", 100);
		said = turn;
		const last = model.requests.slice(before).find((request) => request.text.includes("second while busy"));
		if (turn.state === "idle" && last?.answeredAt !== undefined)
			return Date.now() - Math.max(...answerTimes(model, before));
	}
	throw new Error(`never idle: ${JSON.stringify({ ...said, texts: model.texts().slice(before) })}`);
}

function answerTimes(model: LenientModel, before: number): number[] {
	return model.requests.slice(before).flatMap((request) => request.answeredAt ?? []);
}

function count(words: readonly string[], word: string): number {
	return words.filter((each) => each === word).length;
}

/** Processes that were started with this home and still run, as `pid name`. */
function listProcesses(home: string): string[] {
	return readdirSync("/proc").flatMap((pid) => {
		if (!/^\d+$/.test(pid)) return [];
		try {
			const isOurs = readFileSync(`/proc/${pid}/environ`, "utf8").includes(`HOME=${home}\0`);
			return isOurs ? [`${pid} ${readFileSync(`/proc/${pid}/comm`, "utf8").trim()}`] : [];
		} catch {
			// It ended meanwhile, or belongs to another user.
			return [];
		}
	});
}

async function waitForBusy(drive: Drive): Promise<void> {
	for (let end = Date.now() + 60_000; Date.now() < end; ) {
		if ((await readTurnState(drive, "real", 0)).state === "busy") return;
	}
	throw new Error("the turn was never seen");
}
