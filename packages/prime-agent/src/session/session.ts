import type { Api, Model } from "@earendil-works/pi-ai";
import type { AgentEvent, AgentMessage, AgentTool, StreamFn, ThinkingLevel } from "@prime-agent/loop";
import { isMistake } from "../lib/mistake.ts";
import { errorText } from "../lib/text.ts";
import type { SessionHeader } from "../protocol/entry.ts";
import { AgentError } from "../protocol/errors.ts";
import type { SessionEvent } from "../protocol/event.ts";
import type { Door } from "../protocol/operation.ts";
import type { SessionPort } from "../protocol/session-port.ts";
import { SessionContext } from "./context.ts";
import { Gate } from "./gate.ts";
import { handleSessionOperations } from "./handlers.ts";
import type { AnyFeature, CallContext } from "./host.ts";
import { hostFor } from "./hosting.ts";
import type { SessionLog } from "./log.ts";
import { OperationTable } from "./operations.ts";
import { Queue } from "./queue.ts";
import { Registry } from "./registry.ts";
import { Runner } from "./run.ts";
import { takeTurn } from "./turn.ts";

/** One part of the system prompt. */
export interface PromptPart {
	readonly name: string;
	readonly text: string;
}

/** What a session is made of. */
export interface SessionParts {
	readonly log: SessionLog;
	readonly features: readonly AnyFeature[];
	/** By the name of the port's token. */
	readonly ports: ReadonlyMap<string, unknown>;
	readonly streamFn: StreamFn;
	/** Undefined: prompts fail with a text that says how to choose one. */
	readonly model: Model<Api> | undefined;
	readonly thinkingLevel: ThinkingLevel;
	/** Names of the tools that the model gets. */
	readonly tools: readonly string[] | "all" | "none";
	/** Joins the parts that features registered into the system prompt. */
	readonly writePrompt: (parts: readonly PromptPart[]) => string;
	/** Hears of every `feature_error` with the error itself. Must not throw. */
	readonly onFault?: ((feature: string, during: string, error: unknown) => void) | undefined;
	/** Ends what was made for the session: kernel, lease. */
	readonly release: () => Promise<void>;
}

/**
 * A log, a queue and a table of operations. Features add rows, doors call them; nothing here knows what they are for.
 */
export class Session implements SessionPort {
	readonly #parts: SessionParts;
	readonly #context: SessionContext;
	readonly #gate = new Gate();
	readonly #queue: Queue;
	readonly #registry: Registry;
	readonly #operations = new OperationTable();
	readonly #runner: Runner;
	readonly #tools: readonly AgentTool[];
	readonly #listeners = new Set<(event: SessionEvent) => void>();
	readonly #unheard: SessionEvent[] = [];
	readonly #ended = new AbortController();
	#systemPrompt: string | undefined;
	#disposing: Promise<void> | undefined;

	/** @throws {AgentError} `not_found` when a tool is asked for that no feature has. */
	constructor(parts: SessionParts) {
		const { log } = parts;
		this.#parts = parts;
		this.#context = new SessionContext(log);
		this.#registry = new Registry(parts.features, (feature, during, error) => this.#report(feature, during, error));
		this.#registry.replay(log);
		this.#queue = new Queue(() => this.emit({ type: "session_action_update", actions: this.#queue.snapshot() }));
		log.onAppend((entry) => {
			this.#registry.reduce(entry);
			this.emit({ type: "entry_appended", entry });
		});
		const shared = { log, context: this.#context, gate: this.#gate, queue: this.#queue, registry: this.#registry };
		this.#runner = new Runner({
			...shared,
			assertReady: () => this.#requireModel(),
			takeTurn: (opening, signal) => this.#takeTurn(opening, signal),
			newestMessages: (count) => this.#context.messages().slice(-count),
			emit: (event) => this.emit(event),
			report: (feature, during, error) => this.#report(feature, during, error),
		});
		const call: SessionPort["call"] = (name, params, door, signal) => this.call(name, params, door, signal);
		const hosting = { ...shared, operations: this.#operations, runner: this.#runner, call };
		handleSessionOperations({ ...hosting, model: parts.model, thinkingLevel: parts.thinkingLevel });
		const hosted = {
			...hosting,
			ports: parts.ports,
			signal: this.#ended.signal,
			emit: (e: SessionEvent) => this.emit(e),
		};
		for (const feature of parts.features) feature.setup(hostFor(hosted, feature));
		this.#tools = chooseTools(this.#registry.tools, parts.tools);
	}

	get header(): SessionHeader {
		return this.#parts.log.header;
	}

	get file(): string | undefined {
		return this.#parts.log.file;
	}

	call(name: string, params: unknown, door: Door, signal: AbortSignal = this.#ended.signal): Promise<unknown> {
		if (this.#disposing) return Promise.reject(new AgentError("cancelled", "The session has ended."));
		const known = door === "kernel" ? this.#operations.kernelName(name) : name;
		// A cell and the code of a feature belong to what runs now, and that waits for their answer. A client never does,
		// even when an event of the turn made it call.
		const within = door === "client" ? undefined : this.#gate.holder;
		const exclusive: CallContext["exclusive"] = (reason, options, run) =>
			this.#gate.exclusive(reason, { ...options, within }, run);
		return this.#operations.call(known, params, { signal, door, exclusive }).catch((error: unknown) => {
			if (isMistake(error)) this.#report("session", known, error);
			throw error;
		});
	}

	subscribe(listener: (event: SessionEvent) => void): () => void {
		this.#listeners.add(listener);
		for (const event of this.#unheard.splice(0)) listener(event);
		return () => this.#listeners.delete(listener);
	}

	/** Tells every listener; one that throws does not keep the event from the others. */
	emit(event: SessionEvent): void {
		// What people should know is kept for the first listener; the rest is over when nobody listens.
		if (this.#listeners.size === 0 && (event.type === "notice" || event.type === "feature_error")) {
			this.#unheard.push(event);
		}
		for (const listener of this.#listeners) {
			try {
				listener(event);
			} catch (error) {
				if (event.type !== "feature_error") this.#report("client", event.type, error);
			}
		}
	}

	dispose(): Promise<void> {
		this.#disposing ??= this.#dispose();
		return this.#disposing;
	}

	async #dispose(): Promise<void> {
		this.#queue.cancelWaiting();
		this.#gate.interrupt("The session ends.");
		await this.#runner.idle();
		await this.#registry.tell("dispose", {});
		this.#ended.abort(new AgentError("cancelled", "The session has ended."));
		try {
			await this.#parts.log.sync();
		} finally {
			this.#parts.log.close();
			await this.#parts.release();
		}
	}

	#takeTurn(opening: readonly AgentMessage[], signal: AbortSignal) {
		const { log, thinkingLevel, streamFn } = this.#parts;
		const written = new Set(opening);
		const emit = async (event: AgentEvent) => {
			// Nobody hears of a message before it is written; what opens the turn was written before it.
			if (event.type === "message_end" && !written.has(event.message)) {
				// The disk works while the model does, but what the model says counts only once it is kept what it answers.
				if (event.message.role === "assistant") await log.settleSyncs();
				log.append([{ type: "message", message: event.message }]);
				if (event.message.role === "toolResult") log.beginSync();
			}
			this.emit(event);
		};
		return takeTurn(
			{
				model: this.#requireModel(),
				thinkingLevel,
				sessionId: log.header.id,
				systemPrompt: this.#writePrompt(),
				tools: this.#tools,
				context: this.#context,
				registry: this.#registry,
				streamFn,
				emit,
			},
			opening,
			signal,
		);
	}

	/** Written once, so that every request of the session begins with the same bytes. */
	#writePrompt(): string {
		this.#systemPrompt ??= this.#parts.writePrompt(
			this.#registry.promptParts.map(({ name, text }) => ({ name, text: text() })),
		);
		return this.#systemPrompt;
	}

	#requireModel(): Model<Api> {
		const { model } = this.#parts;
		if (!model) throw new AgentError("refused", "No model is chosen. Use --model, or set a provider key.");
		return model;
	}

	#report(feature: string, during: string, error: unknown): void {
		this.#parts.onFault?.(feature, during, error);
		this.emit({ type: "feature_error", feature, during, error: errorText(error) });
	}
}

function chooseTools(known: ReadonlyMap<string, AgentTool>, wanted: SessionParts["tools"]): AgentTool[] {
	if (wanted === "all") return [...known.values()];
	if (wanted === "none") return [];
	return wanted.map((name) => {
		const tool = known.get(name);
		if (tool) return tool;
		throw new AgentError(
			"not_found",
			`There is no tool "${name}". Known tools: ${[...known.keys()].join(", ") || "none"}.`,
		);
	});
}
