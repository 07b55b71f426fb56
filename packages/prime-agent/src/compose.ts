import { basename, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Api, Model } from "@earendil-works/pi-ai";
import type { StreamFn, ThinkingLevel } from "@prime-agent/loop";
import { FEATURES } from "./features/index.ts";
import { createKernel, type KernelOptions } from "./kernel/index.ts";
import { createUuid, fileNameOf } from "./lib/ids.ts";
import { errorText } from "./lib/text.ts";
import type { ModelName } from "./models/selection.ts";
import { makeFolder } from "./platform/folder.ts";
import { acquireLease, type Lease, LeaseHeldError } from "./platform/lease.ts";
import { findRealPath } from "./platform/real-path.ts";
import {
	type ModelChangeEntry,
	SESSION_VERSION,
	type SessionHeader,
	type ThinkingLevelChangeEntry,
} from "./protocol/entry.ts";
import { AgentError } from "./protocol/errors.ts";
import type { SessionPort } from "./protocol/session-port.ts";
import { type EntryDraft, SessionLog } from "./session/log.ts";
import {
	AUTH,
	type AuthPort,
	CLOCK,
	type ClockPort,
	KERNEL,
	type KernelPort,
	MODEL,
	type ModelPort,
	SETTINGS,
	type SettingsPort,
} from "./session/ports.ts";
import { type PromptPart, Session, type SessionParts } from "./session/session.ts";
import { createMemoryStore } from "./session/storage/memory.ts";
import { createFileStore, openFileStore } from "./session/storage.ts";

/** Where a session comes from and where it goes. */
export type SessionSource =
	| { readonly kind: "new"; readonly dir: string }
	| { readonly kind: "open"; readonly file: string }
	| { readonly kind: "memory" };

type ToolChoice = readonly string[] | "all" | "none";

/** Whether the model can run cells with these tools: if not, no kernel is started ahead of its first cell. */
export function offersCells(tools: ToolChoice): boolean {
	return tools === "all" || (tools !== "none" && tools.includes("ipython"));
}

/** Everything that a session of the product is built from. */
export interface ComposeOptions {
	/** Absolute working directory. */
	readonly cwd: string;
	/** Folder for leases, variables and long output. */
	readonly agentDir: string;
	readonly session: SessionSource;
	/** Chooses the model; `last` is the one that the session used last. */
	readonly chooseModel: (last: ModelName | undefined) => Promise<Model<Api> | undefined>;
	/** Undefined: what the session used last, else `medium`. */
	readonly thinkingLevel?: ThinkingLevel;
	/** Sends requests, with credentials applied. */
	readonly streamFn: StreamFn;
	/** Replaces the base of the system prompt. */
	readonly systemPrompt?: string;
	readonly appendSystemPrompt: readonly string[];
	readonly contextFiles: readonly { readonly path: string; readonly text: string }[];
	readonly tools: ToolChoice;
	readonly kernel: Omit<KernelOptions, "cwd" | "artifactsDir">;
	/** Reads a setting by its dotted path. */
	readonly setting?: (path: string) => unknown;
	/** Without it a refused credential stays in use. */
	readonly auth?: AuthPort;
	/** Hears of everything that a feature or the session itself did wrong. */
	readonly onFault?: SessionParts["onFault"];
}

const CLOCK_OF_THE_MACHINE: ClockPort = {
	now: () => Date.now(),
	sleep: async (ms, signal) => {
		await sleep(ms, undefined, signal ? { signal } : {});
	},
};

/**
 * Builds a session: storage with its lease, kernel, features, prompt.
 * @throws {AgentError} `not_found` for a missing file or unknown tool, `already_active`, `stale`, `storage_failed`.
 */
export async function composeSession(options: ComposeOptions): Promise<SessionPort> {
	const { session } = options;
	const leases = new Leases(options.agentDir);
	try {
		// Under another name a file is the same one.
		const source = session.kind === "open" ? { ...session, file: findRealPath(session.file) } : session;
		// A saved session is read under its lease. A new one has no rivals, and what comes to nothing leaves no trace.
		if (source.kind === "open") leases.take(sessionIdOf(source.file), MAKE_WRITABLE);
		return await build({ ...options, session: source }, leases);
	} catch (error) {
		leases.release();
		throw error;
	}
}

const MAKE_WRITABLE = "Make the folder writable.";
const OR_KEEP_NOTHING = "--no-session keeps nothing on disk and needs no lease.";

/** The leases of one session. */
class Leases {
	readonly #agentDir: string;
	readonly #held = new Map<string, Lease>();

	constructor(agentDir: string) {
		this.#agentDir = agentDir;
	}

	/** Takes the lease of an id unless it is held already. */
	take(id: string, advice: string): void {
		if (this.#held.has(id)) return;
		try {
			this.#held.set(id, acquireLease(join(this.#agentDir, "session-leases"), id));
		} catch (error) {
			if (error instanceof LeaseHeldError) throw new AgentError("already_active", error.message, { cause: error });
			const message = `The lease of session ${id} cannot be written to ${this.#agentDir}: ${errorText(error)}. ${advice}`;
			throw new AgentError("storage_failed", message, { cause: error });
		}
	}

	release(): void {
		for (const lease of this.#held.values()) lease.release();
	}
}

async function build(options: ComposeOptions, leases: Leases): Promise<SessionPort> {
	const log = openLog(options, createUuid(Date.now()));
	try {
		// A copy of a session has its own file, and the id and so the variables of the first one.
		if (options.session.kind === "open") leases.take(log.header.id, MAKE_WRITABLE);
		return await buildOn(log, options, leases);
	} catch (error) {
		log.close();
		throw error;
	}
}

async function buildOn(log: SessionLog, options: ComposeOptions, leases: Leases): Promise<SessionPort> {
	const last = lastChoices(log);
	const model = await options.chooseModel(last.model);
	const thinkingLevel = options.thinkingLevel ?? last.thinkingLevel ?? "medium";
	log.append(changes(log, last, model, thinkingLevel));
	let notify: ((text: string) => void) | undefined;
	const kernel = createKernel({
		...options.kernel,
		artifactsDir: artifactsFolder(options, log.header.id),
		cwd: options.cwd,
		startsAhead: offersCells(options.tools),
		onLeftovers: (jobs) =>
			notify?.(`Ended with the kernel: ${jobs.map((job) => `${job.command} (${job.pid})`).join(", ")}`),
	});
	const release = async () => {
		await kernel.dispose();
		leases.release();
	};
	try {
		const session = new Session({
			log,
			features: FEATURES,
			ports: portsOf(options, kernel, model),
			streamFn: options.streamFn,
			model,
			thinkingLevel,
			tools: options.tools,
			writePrompt: (parts) => writePrompt(options, parts),
			release,
			...(options.onFault ? { onFault: options.onFault } : {}),
		});
		if (options.session.kind === "new") leases.take(log.header.id, `${MAKE_WRITABLE} ${OR_KEEP_NOTHING}`);
		notify = (text) => session.emit({ type: "notice", level: "warning", text });
		reportBroken(log, notify);
		kernel.serve((type, payload, signal) => session.call(type, payload, "kernel", signal));
		return session;
	} catch (error) {
		await kernel.dispose();
		throw error;
	}
}

function portsOf(options: ComposeOptions, kernel: KernelPort, model: Model<Api> | undefined): Map<string, unknown> {
	return new Map<string, unknown>([
		[KERNEL.name, kernel],
		[CLOCK.name, CLOCK_OF_THE_MACHINE],
		[MODEL.name, { current: () => model, stream: options.streamFn } satisfies ModelPort],
		[SETTINGS.name, { get: options.setting ?? (() => undefined) } satisfies SettingsPort],
		...(options.auth ? ([[AUTH.name, options.auth]] as const) : []),
	]);
}

function reportBroken(log: SessionLog, notify: (text: string) => void): void {
	if (log.broken.length === 0) return;
	const [first] = log.broken;
	const where = first!.line > 0 ? `line ${first!.line}: ${first!.reason}` : first!.reason;
	const count =
		log.broken.length === 1 ? "1 line of the session file was" : `${log.broken.length} lines of the session file were`;
	notify(`${count} skipped (${where}). Everything else is there.`);
}

function openLog({ cwd, session }: ComposeOptions, newId: string): SessionLog {
	const header: SessionHeader = {
		type: "session",
		version: SESSION_VERSION,
		id: newId,
		timestamp: new Date().toISOString(),
		cwd,
		rlmDepth: 0,
	};
	if (session.kind === "memory") return SessionLog.create(header, createMemoryStore());
	if (session.kind === "new") {
		return SessionLog.create(header, createFileStore(join(session.dir, `${newId}.jsonl`), makeFolder));
	}
	const { file } = session;
	return SessionLog.open(openFileStore(file), { ...header, id: sessionIdOf(file), cwd: dirname(file) });
}

function sessionIdOf(file: string): string {
	return basename(file).replace(/\.jsonl$/, "");
}

/** Where variables and output that is too long for the conversation are kept; none for a session that keeps nothing. */
function artifactsFolder({ agentDir, session }: ComposeOptions, id: string): string | undefined {
	return session.kind === "memory" ? undefined : join(agentDir, "session-artifacts", fileNameOf(id));
}

interface Choices {
	readonly model: ModelName | undefined;
	readonly thinkingLevel: ThinkingLevel | undefined;
}

function lastChoices(log: SessionLog): Choices {
	const model = log.latest("model_change") as ModelChangeEntry | undefined;
	const thinking = log.latest("thinking_level_change") as ThinkingLevelChangeEntry | undefined;
	return {
		model: model && { provider: model.provider, id: model.modelId },
		thinkingLevel: thinking?.thinkingLevel as ThinkingLevel | undefined,
	};
}

/** The entries that say what changed since the session was used last; for a new one, all of them. */
function changes(log: SessionLog, last: Choices, model: Model<Api> | undefined, thinkingLevel: string): EntryDraft[] {
	const drafts: EntryDraft[] = [];
	if (model && (model.provider !== last.model?.provider || model.id !== last.model.id)) {
		drafts.push({ type: "model_change", provider: model.provider, modelId: model.id });
	}
	if (thinkingLevel !== last.thinkingLevel) drafts.push({ type: "thinking_level_change", thinkingLevel });
	if (log.length === 0) {
		drafts.push({ type: "service_tier_change", serviceTier: "default" });
		drafts.push({ type: "session_state", status: "active" });
	}
	return drafts;
}

/** The system prompt: what features say, the project's instructions, what the user adds, the folder. */
function writePrompt(options: ComposeOptions, parts: readonly PromptPart[]): string {
	const { systemPrompt, contextFiles, appendSystemPrompt, cwd } = options;
	const own = systemPrompt === undefined ? parts : parts.filter((part) => part.name !== "base");
	const instructions = contextFiles.map(({ path, text }) => `Instructions from ${path}:\n\n${text.trim()}`);
	return [
		...(systemPrompt === undefined ? [] : [systemPrompt]),
		...own.map((part) => part.text),
		...instructions,
		...appendSystemPrompt,
		`Working directory: ${cwd}`,
	].join("\n\n");
}
