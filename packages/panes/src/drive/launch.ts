import { execFile } from "node:child_process";
import { type AddressInfo, createServer } from "node:net";
import { basename } from "node:path";
import type { AgentCli } from "../clis/cli.ts";
import type { TuiProfile } from "../clis/custom.ts";
import { PaneError, UsageError } from "../errors.ts";
import { stripStyle } from "../screen/style.ts";
import { quoteWord } from "../tmux/arguments.ts";
import { findPane } from "../tmux/pane.ts";
import { makeSession, type SpawnedPane, setPaneOptions, setSessionOptions } from "../tmux/session.ts";
import { callOptions, type Drive, rest } from "./context.ts";
import { endSessionTree } from "./ending.ts";
import { fileExists, makePrivateFile } from "./files.ts";
import { openPaneIO } from "./pane-io.ts";
import { snippetOf } from "./probe.ts";
import { profileNameOf, resolveProfile } from "./profile.ts";
import { requireProgram } from "./program.ts";
import { type SessionView, tmuxName, viewPane, viewSession } from "./session.ts";
import { answerWall, findWall } from "./walls.ts";

/** How a session is started. */
export interface LaunchRequest {
	readonly name: string;
	/** Program and arguments; each word is quoted for the shell. */
	readonly words: readonly string[];
	readonly cwd?: string | undefined;
	readonly timeoutMs: number;
	readonly profile?: string | undefined;
	readonly ready?: string | undefined;
	readonly busy?: string | undefined;
	/** A profile of the configuration, which then says how the screen is read. */
	readonly tui?: TuiProfile | undefined;
	/** File that receives everything the program prints while it starts. */
	readonly bootLog?: string | undefined;
	readonly size: { readonly width: number; readonly height: number };
	/** End a session of the same name first. */
	readonly replace?: boolean | undefined;
	/** Leave notices on the screen for a person. */
	readonly keepNotices?: boolean | undefined;
	/** Answer trust and key walls with their accepting label. */
	readonly acceptWalls?: boolean | undefined;
	/** Keep the session when the prompt was never seen. */
	readonly keep?: boolean | undefined;
	/** Start a one-shot command although it takes no input. */
	readonly allowOneShot?: boolean | undefined;
}

/**
 * Starts an agent CLI in a detached session and returns when it takes input. Throws `PaneError` with the screen when the
 * program ends (`died_at_start`), waits for a person (`blocked`; the session stays) or never shows its prompt.
 */
export async function launchSession(drive: Drive, request: LaunchRequest): Promise<SessionView> {
	const session = tmuxName(drive, request.name);
	const choice = {
		profile: request.tui?.name ?? request.profile ?? profileNameOf(request.words),
		tui: request.tui === undefined ? undefined : JSON.stringify(request.tui),
		ready: request.ready,
		busy: request.busy,
	};
	const { cli } = resolveProfile(choice);
	if (!request.allowOneShot) refuseOneShot(cli, request.words);
	if (request.cwd !== undefined && !fileExists(request.cwd)) throw new UsageError(`no such folder: ${request.cwd}`);
	await requireProgram(drive, request.words[0] ?? "", {
		cwd: request.cwd ?? process.cwd(),
		advice: "install it, put its folder on PATH, or launch another program",
	});
	if (request.bootLog !== undefined) makePrivateFile(request.bootLog);
	await clearName(drive, request, session);
	const pane = await makeSession(
		drive.tmux,
		{
			...{ name: session, command: await composeLaunch(drive, cli, request.words), cwd: request.cwd },
			...{ width: request.size.width, height: request.size.height, log: request.bootLog },
		},
		callOptions(drive),
	);
	await setSessionOptions(drive.tmux, pane.id, {
		"@profile": choice.profile,
		"@ready": choice.ready ?? "",
		"@busy": choice.busy ?? "",
		"@tui": choice.tui ?? "",
	});
	const view = await waitForPrompt(drive, request, session, pane);
	// From now on a program that ends takes its session with it.
	await setPaneOptions(drive.tmux, pane.id, { "remain-on-exit": undefined }, callOptions(drive));
	if (request.bootLog !== undefined) await drive.tmux.run(["pipe-pane", "-t", pane.id], callOptions(drive));
	return view;
}

async function waitForPrompt(
	drive: Drive,
	request: LaunchRequest,
	session: string,
	pane: SpawnedPane,
): Promise<SessionView> {
	const end = drive.clock.now() + request.timeoutMs;
	try {
		for (;;) {
			const view = await viewPane(drive, request.name, pane.id);
			if (view === undefined || view.verdict.word === "dead") throw await explainDeath(drive, request, pane.id);
			const wall = findWall(view.profile.cli, view.frame.rows);
			const mayAnswer = wall?.isNotice ? !request.keepNotices : request.acceptWalls;
			if (view.verdict.word === "blocked" && wall !== undefined && mayAnswer) {
				await answerWall(drive, view.io, wall);
				await rest(drive, drive.timings.afterDismiss);
				continue;
			}
			if (view.verdict.word === "ready") return view;
			if (view.verdict.word === "blocked") throw explainWall(request.name, view, wall?.name);
			if (drive.clock.now() >= end) throw await explainTimeout(request, view);
			await rest(drive, drive.timings.launchPoll);
		}
	} catch (error) {
		const isWall = error instanceof PaneError && error.code === "blocked";
		const isLate = error instanceof PaneError && error.code === "start_timeout";
		// Also when the caller has stopped the launch: a session that nobody was told about must not stay.
		const cleanup = { ...drive, signal: undefined };
		if (!isWall && !(isLate && request.keep)) await endSessionTree(cleanup, session, pane.pid);
		throw error;
	}
}

async function clearName(drive: Drive, request: LaunchRequest, session: string): Promise<void> {
	const existing = await viewSession(drive, request.name);
	if (existing === undefined) return;
	if (existing.verdict.word !== "dead" && !request.replace) {
		throw new PaneError("refused", `session "${request.name}" is running; use it, kill it, or launch with --replace`);
	}
	await endSessionTree(drive, session, existing.frame.info.pid);
}

/** `exec` makes the program the pane's own process, which its status files are named after. */
async function composeLaunch(drive: Drive, cli: AgentCli | undefined, words: readonly string[]): Promise<string> {
	const unset = (cli?.launchEnv?.unset ?? []).flatMap((name) => ["-u", name]);
	const set = Object.entries(cli?.launchEnv?.set ?? {}).map(([name, value]) => `${name}=${value}`);
	const [program = "", ...rest] = words;
	const flags = [...(await knownFlags(drive, cli, words)), ...(await portFlags(cli, words))];
	return ["exec", "env", ...unset, ...set, program, ...flags, ...rest].map(quoteWord).join(" ");
}

/** Launch flags that the installed program lists in its help and that are not given already. */
export async function knownFlags(drive: Drive, cli: AgentCli | undefined, words: readonly string[]): Promise<string[]> {
	const [program = ""] = words;
	const wanted = (cli?.launchFlags ?? []).filter((flag) => !words.includes(flag));
	if (wanted.length === 0 || basename(program) !== cli?.name) return [];
	const help = await new Promise<string>((resolve) => {
		execFile(program, ["--help"], { timeout: 10_000, env: drive.env }, (error, stdout) => resolve(error ? "" : stdout));
	});
	return wanted.filter((flag) => help.includes(flag));
}

/** A free port for a CLI that serves its state, unless the caller has named one. */
async function portFlags(cli: AgentCli | undefined, words: readonly string[]): Promise<string[]> {
	const flag = cli?.portFlag;
	if (flag === undefined || basename(words[0] ?? "") !== cli?.name) return [];
	if (words.some((word) => word === flag || word.startsWith(`${flag}=`))) return [];
	const server = createServer();
	await new Promise<void>((resolve, reject) => {
		server.once("error", reject);
		server.listen(0, "127.0.0.1", resolve);
	});
	const { port } = server.address() as AddressInfo;
	await new Promise((resolve) => server.close(resolve));
	return [flag, String(port)];
}

function refuseOneShot(cli: AgentCli | undefined, words: readonly string[]): void {
	if (cli === undefined) return;
	const rest = words.slice(1);
	const firstPlain = rest.find((word) => !word.startsWith("-"));
	const found = cli.oneShot.find((word) => (word.startsWith("-") ? rest.includes(word) : word === firstPlain));
	if (found === undefined) return;
	throw new PaneError(
		"refused",
		`"${cli.name} ${found}" runs once and takes no further input, so nothing could be sent to it. ` +
			`Launch the interactive form, or pass --allow-oneshot.`,
	);
}

async function explainDeath(drive: Drive, request: LaunchRequest, pane: string): Promise<PaneError> {
	const isThere = (await findPane(drive.tmux, pane)) !== undefined;
	const tail = isThere ? await openPaneIO(drive, pane).tail(200) : "";
	// tmux writes its notice of the death into the last row, far below a short output.
	const screen = tail.replace(/\n{3,}/g, "\n");
	const log = request.bootLog === undefined ? "" : ` Everything it printed is in ${request.bootLog}.`;
	const message = `"${request.words[0]}" died during startup.${log}`;
	return new PaneError("died_at_start", message, { snippet: snippetOf(screen) });
}

function explainWall(name: string, view: SessionView, wall: string | undefined): PaneError {
	const what = wall === undefined ? "a question" : `the ${wall} question`;
	const message =
		`session "${name}" waits for a person: ${what}. It stays running in pane ${view.io.id}; ` +
		`attach and answer, or launch again with --replace --accept-walls.`;
	return new PaneError("blocked", message, { snippet: snippetOf(plainRows(view)) });
}

async function explainTimeout(request: LaunchRequest, view: SessionView): Promise<PaneError> {
	const seconds = Math.round(request.timeoutMs / 1000);
	const log = request.bootLog === undefined ? "" : ` Everything it printed is in ${request.bootLog}.`;
	const message = `the prompt of "${request.words[0]}" was not seen within ${seconds} s (${view.verdict.rule}).${log}`;
	return new PaneError("start_timeout", message, { snippet: snippetOf(plainRows(view)) });
}

function plainRows(view: SessionView): string {
	return view.frame.rows.map(stripStyle).join("\n");
}
