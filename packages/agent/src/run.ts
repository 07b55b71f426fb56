import { guardStream, streamByApi } from "@prime-agent/loop";
import {
	AccessError,
	CodingSession,
	findProfile,
	LocalEnvironment,
	openAccess,
	type RunEnd,
} from "@prime-agent/toolset";
import { createApproval, LineReader } from "./approve.ts";
import type { Request } from "./arguments.ts";
import { createDebugSink } from "./debug.ts";
import { warnOfFolder } from "./folder.ts";
import { AgentGate } from "./gate.ts";
import { cleanText } from "./output.ts";
import { Renderer } from "./render.ts";
import { discardTypedAhead } from "./typed-ahead.ts";

/** The part of a command line that asks for a run. */
export type RunRequest = Extract<Request, { kind: "run" }>;

/** Thinking models pause; five silent minutes are more than that. */
const silenceMs = 300_000;

function openAccessOrExplain(request: RunRequest) {
	try {
		return openAccess(request.provider, request.model, process.env);
	} catch (error) {
		if (!(error instanceof AccessError)) throw error;
		process.stderr.write(`error: ${error.message}\n`);
		return undefined;
	}
}

function findFolderOrExplain(): string | undefined {
	try {
		return process.cwd();
	} catch {
		// Only a folder that was removed has no name.
		process.stderr.write("error: The current folder is gone. Change into one that exists and start again.\n");
		return undefined;
	}
}

/** Calls `first` at the first signal to stop and `second` at the next. */
function onInterrupt(first: () => void, second: () => void): void {
	let count = 0;
	for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
		process.on(signal, () => {
			count++;
			if (count === 1) first();
			else second();
		});
	}
}

/** Why a run stops before its end. */
interface Stop {
	signal: AbortSignal;
	/** Whoever read our output has gone. */
	readonly isUnread: boolean;
}

/** Sees to it that signals and broken outputs stop the run and that nothing it started goes on. */
function watchStops(environment: LocalEnvironment): Stop {
	const stop = new AbortController();
	let isUnread = false;
	// However the process ends, also by a fault.
	process.once("exit", () => environment.killAll());
	onInterrupt(
		() => stop.abort(),
		() => process.exit(1),
	);
	for (const stream of [process.stdout, process.stderr]) {
		stream.on("error", () => {
			isUnread = true;
			stop.abort();
		});
	}
	// Also ends what the opening of a session runs, such as a Git command on a slow disk.
	stop.signal.addEventListener("abort", () => void environment.cleanup());
	return {
		signal: stop.signal,
		get isUnread() {
			return isUnread;
		},
	};
}

const writeError = (text: string) => process.stderr.write(text);

function createGate({ permissions, autoApprove }: RunRequest, renderer: Renderer): AgentGate {
	const isInteractive = process.stdin.isTTY === true && !autoApprove;
	return new AgentGate({
		level: permissions,
		autoApprove,
		ask: isInteractive ? createApproval(new LineReader(process.stdin, discardTypedAhead), writeError) : undefined,
		onRefusal: (call, reason) => renderer.showRefusal(call, reason),
	});
}

function createStream({ debug }: RunRequest) {
	return guardStream({
		streamFn: streamByApi,
		firstByteMs: silenceMs,
		idleMs: silenceMs,
		// A model may end without a word after its last tool.
		allowEmptyReply: true,
		...(debug ? { debug: createDebugSink(writeError) } : {}),
	});
}

/** Runs one task to its end and answers the exit code. */
export async function runAgent(request: RunRequest): Promise<number> {
	const access = openAccessOrExplain(request);
	const folder = access && findFolderOrExplain();
	if (!access || folder === undefined) return 1;
	const environment = new LocalEnvironment({ workingDirectory: folder, variables: process.env });
	const stop = watchStops(environment);
	const warning = request.permissions === "read-only" ? undefined : warnOfFolder(folder, process.env.HOME);
	if (warning) writeError(`warning: ${warning}\n`);
	const clean = process.stdout.isTTY ? cleanText : (text: string) => text;
	const renderer = new Renderer({ stdout: (text) => process.stdout.write(clean(text)), stderr: writeError });
	const session = await CodingSession.open({
		profile: findProfile(request.provider),
		access,
		environment,
		streamFn: createStream(request),
		gate: createGate(request, renderer),
		listener: (event) => renderer.show(event),
	});
	const end = await submitUntil(stop.signal, session, request.prompt);
	await session.close();
	if (stop.isUnread) return 1;
	renderer.showEnd(end);
	renderer.showSummary(session.usage);
	return end.reason === "stop" ? 0 : 1;
}

/** The end of the run; an abort of `signal` closes the session. */
async function submitUntil(signal: AbortSignal, session: CodingSession, prompt: string): Promise<RunEnd> {
	if (signal.aborted) return { reason: "aborted", error: "The run was interrupted." };
	signal.addEventListener("abort", () => void session.close());
	return session.submit(prompt);
}
