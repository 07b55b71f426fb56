import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { connectInProcess } from "../connection/in-process.ts";
import { errorText } from "../lib/text.ts";
import type { HeadlessPrompt } from "../modes/headless.ts";
import { runJson } from "../modes/json/json-mode.ts";
import { describeEvent } from "../modes/print/notes.ts";
import { runPrint } from "../modes/print/print-mode.ts";
import { agentFolder, expandHome } from "../platform/paths.ts";
import type { SessionPort } from "../protocol/session-port.ts";
import { findContextFiles, findPromptFiles } from "../resources/context-files.ts";
import { findNewest, sessionFolder } from "../resources/session-files.ts";
import { resolveSession } from "../resources/session-selector.ts";
import { NO_SETTINGS, readSettings, type Settings } from "../settings/settings.ts";
import { UsageError } from "./errors.ts";
import { reportFailure, sayFaultFile } from "./faults.ts";
import { type Host, hasLostReader, say } from "./host.ts";
import type { RunRequest } from "./intent.ts";
import { readPiped } from "./piped-input.ts";
import type { SessionRequest } from "./program.ts";
import { buildPrompt, decodeText } from "./prompt.ts";

/** Runs a prompt to its end and prints what came of it; resolves with the exit code. */
export async function runPromptCommand(request: RunRequest, host: Host): Promise<number> {
	// Nothing can come of it, whatever is piped in.
	if (request.session.kind === "unnamed") await checkSession(request, host);
	// Both halves at once: reading takes as long as whoever pipes, and two mistakes are told together.
	const [prompt, opened] = await Promise.allSettled([readPrompt(request, host), openSession(request, host)]);
	const failures = [prompt, opened].filter((half) => half.status === "rejected").map((half) => half.reason);
	if (prompt.status === "rejected" || opened.status === "rejected") {
		if (opened.status === "fulfilled") await opened.value.dispose();
		const told = new Map(failures.map((failure) => [errorText(failure), failure]));
		for (const failure of told.values()) await reportFailure(failure, "start", host);
		return 1;
	}
	const connection = connectInProcess(opened.value);
	try {
		const failure = await runMode(request, connection, prompt.value, host);
		if (failure !== undefined && !hasLostReader(host)) say(host, `Error: ${failure}`);
		return failure === undefined ? 0 : 1;
	} finally {
		await closeSession(connection, host);
		sayFaultFile(await host.loadProgram(), host);
	}
}

/** The end of a session has something to say, too: variables that were not saved, processes that still ran. */
async function closeSession(connection: ReturnType<typeof connectInProcess>, host: Host): Promise<void> {
	connection.subscribe((event) => {
		const note = describeEvent(event, false);
		if (note !== undefined) say(host, note);
	});
	await connection.close();
}

/** Rejects when the saved session that the command line means does not exist, or is not named. */
export async function checkSession(request: RunRequest, host: Host): Promise<void> {
	const agent = agentFolder(host.env);
	const cwd = resolve(host.cwd, expandHome(request.cwd ?? ".", host.env));
	const { settings } = readSettings(agent, cwd, host.env);
	await chooseSession(request, settings, agent, cwd, host);
}

function runMode(
	request: RunRequest,
	connection: ReturnType<typeof connectInProcess>,
	prompt: HeadlessPrompt,
	host: Host,
): Promise<string | undefined> {
	if (request.mode === "json") {
		return runJson(connection, prompt, host.stdout, host.signal);
	}
	const print = {
		output: host.stdout,
		isLive: host.stdout.isTTY === true,
		note: (line: string) => say(host, line),
		isWatched: host.stderr.isTTY === true,
	};
	return runPrint(connection, prompt, print, host.signal);
}

async function readPrompt(request: RunRequest, host: Host): Promise<HeadlessPrompt> {
	const onSilence = () => say(host, "Waiting for the end of the piped input. If none is meant, add </dev/null.");
	const note = (line: string) => say(host, line);
	const bytes = host.isPiped ? await readPiped(host.stdin, onSilence, host.signal) : undefined;
	const piped = bytes ? decodeText(bytes, "The piped input", note) : "";
	return buildPrompt({ piped, files: request.files, words: request.prompt, cwd: host.cwd, signal: host.signal, note });
}

async function openSession(request: RunRequest, host: Host): Promise<SessionPort> {
	const { env } = host;
	const agent = agentFolder(env);
	const started = resolve(host.cwd, expandHome(request.cwd ?? ".", env));
	if (request.cwd !== undefined) await checkFolder(started, "--cwd");
	const program = host.loadProgram();
	// The demo shows the program as it is, so nothing of the user's set-up may colour it.
	const settingsOf = (cwd: string) => {
		const loaded = request.isDemo ? { settings: NO_SETTINGS, warnings: [] } : readSettings(agent, cwd, env);
		warn(host, loaded.warnings);
		return loaded.settings;
	};
	const here = settingsOf(started);
	const chosen = await chooseSession(request, here, agent, started, host);
	if (chosen.note !== undefined) say(host, chosen.note);
	const found = findInstructions(request, agent, chosen.cwd);
	warn(host, found.warnings);
	const wanted = {
		cwd: chosen.cwd,
		session: chosen.session,
		provider: request.provider,
		model: request.model,
		apiKey: request.apiKey,
		thinking: request.thinking,
		settings: chosen.cwd === started ? here : settingsOf(chosen.cwd),
		tools: request.tools,
		isDemo: request.isDemo,
		...found.instructions,
	};
	return (await program).openSession(wanted, (line) => say(host, line));
}

function warn(host: Host, warnings: readonly string[]): void {
	for (const warning of warnings) say(host, `Warning: ${warning}`);
}

interface ChosenSession {
	readonly session: SessionRequest["session"];
	readonly cwd: string;
	readonly note?: string;
}

async function chooseSession(
	request: RunRequest,
	settings: Settings,
	agent: string,
	cwd: string,
	host: Host,
): Promise<ChosenSession> {
	const { env } = host;
	const dir = sessionFolder({
		flag: request.sessionDir,
		settings: settings.sessionDir,
		agentFolder: agent,
		cwd: host.cwd,
		env,
	});
	const { session } = request;
	switch (session.kind) {
		case "none":
			return { session: { kind: "memory" }, cwd };
		case "new":
			// What a demo says is worth nothing later; it leaves nothing behind.
			return { session: request.isDemo ? { kind: "memory" } : { kind: "new", dir }, cwd };
		case "continue": {
			const newest = await findNewest(dir, cwd);
			if (newest) return { session: { kind: "open", file: newest.path }, cwd };
			throw new UsageError(`There is no session of ${cwd} to continue. Start one without --continue.`);
		}
		case "unnamed": {
			const { askForSession } = await import("./latest.ts");
			throw await askForSession(dir, cwd, Date.now());
		}
		case "resume": {
			const saved = await resolveSession(session.selector, dir, cwd, env);
			const open = { kind: "open" as const, file: saved.path };
			if (request.cwd !== undefined) return { session: open, cwd };
			const home = saved.header.cwd;
			if (home === undefined) {
				return {
					session: open,
					cwd,
					note: `The session file does not tell its folder any more; it goes on in ${cwd}.`,
				};
			}
			await checkFolder(home, "the session's folder", " Give another one with --cwd.");
			if (resolve(home) === cwd) return { session: open, cwd };
			return { session: open, cwd: home, note: `The session goes on in its own folder, ${home}.` };
		}
	}
}

function findInstructions(request: RunRequest, agent: string, cwd: string) {
	if (request.isDemo) return { instructions: { contextFiles: [], appendSystemPrompt: [] }, warnings: [] };
	const context = request.hasContextFiles ? findContextFiles(agent, cwd) : { files: [], warnings: [] };
	const prompts = findPromptFiles(agent, cwd);
	return {
		instructions: {
			contextFiles: context.files,
			systemPrompt: request.systemPrompt ?? prompts.system?.text,
			appendSystemPrompt: [...prompts.append.map((file) => file.text), ...request.appendSystemPrompt],
		},
		warnings: [...context.warnings, ...prompts.warnings],
	};
}

async function checkFolder(path: string, what: string, hint = ""): Promise<void> {
	const isFolder = await stat(path).then(
		(stats) => stats.isDirectory(),
		() => false,
	);
	if (!isFolder) throw new UsageError(`${path} is not a folder (${what}).${hint}`);
}
