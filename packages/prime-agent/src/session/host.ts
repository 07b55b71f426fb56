import type { ImageContent } from "@earendil-works/pi-ai";
import type { AgentMessage, AgentTool, AgentToolResult } from "@prime-agent/loop";
import type { Entry } from "../protocol/entry.ts";
import type { Lane } from "../protocol/event.ts";
import type { Door, Operation } from "../protocol/operation.ts";
import type { BoundaryHook, Phase } from "./boundary.ts";
import type { EntryDraft } from "./log.ts";
import type { PortToken } from "./ports.ts";
import type { ActionContent, ActionOutcome } from "./queue.ts";

/** What a handler knows about its call. */
export interface CallContext {
	readonly signal: AbortSignal;
	readonly door: Door;
	/**
	 * Runs a task while no turn runs; with `interrupt`, a running turn is told to stop first. `signal` aborts when
	 * somebody stops the session's work.
	 * @throws {AgentError} `refused` for a call by a cell or by a feature while a turn or task runs: it would wait for
	 * itself.
	 */
	exclusive<T>(
		reason: string,
		options: { readonly interrupt?: boolean },
		run: (signal: AbortSignal) => Promise<T>,
	): Promise<T>;
}

/** What a slash command asks for: an operation with its params, and how its result reads to a person. */
export interface CommandOutcome {
	readonly operation: string;
	readonly params: unknown;
	readonly say: (result: unknown) => string;
}

/** A command that a person types after `/`. */
export interface Command {
	readonly name: string;
	readonly description: string;
	/** Turns the text after the name into a call. Throws an error with a usage text when it cannot. */
	parse(args: string): CommandOutcome;
}

/** What each gate point looks at and may change. */
export interface GateValues {
	input: { text: string; images: readonly ImageContent[] };
	prompt: { text: string; images: readonly ImageContent[] };
	context: { messages: readonly AgentMessage[] };
	request: { payload: unknown };
	tool_call: { toolName: string; toolCallId: string; args: unknown };
	tool_result: { toolName: string; toolCallId: string; result: AgentToolResult; isError: boolean };
	compact: { instructions: string | undefined };
	tree: { targetId: string | null };
	switch: { file: string | undefined };
	fork: { entryId: string };
}

/** A place where features may change or refuse what is about to happen. */
export type GatePoint = keyof GateValues;

/** What a gate says: nothing (go on), other values for some fields, or a refusal with its reason. */
export type GateVerdict<Point extends GatePoint> =
	| undefined
	| { readonly change: Partial<GateValues[Point]> }
	| Refusal;

/** A gate refused what was about to happen. */
export interface Refusal {
	readonly refuse: string;
}

/** Moments that listeners may look at. */
export interface Moments {
	run_start: object;
	run_end: { readonly messages: readonly AgentMessage[] };
	idle: object;
	dispose: object;
}

/** What becomes of something that was queued. */
export interface Delivery {
	readonly id: number;
	/** Resolves when the action has ended, with how. */
	readonly done: Promise<ActionOutcome>;
}

/** What to queue. */
export interface Enqueue extends ActionContent {
	readonly lane: Lane;
	/** Waiting content of the same lane and key is replaced. */
	readonly key?: string;
}

/** The whole surface that a feature gets. Everything registered here lives as long as the session. */
export interface FeatureHost<State = undefined> {
	/** The feature's state, as its reducer made it from the log. */
	state(): State;
	/** Version of the log, for `expect`. */
	logVersion(): number;
	/**
	 * Writes an entry of the feature (`custom` with this type); the reducer has seen it when this returns.
	 * @throws {AgentError} `stale` when the log has moved on from `expect`.
	 */
	append(customType: string, data: unknown, options?: { readonly expect?: number }): Entry;
	/**
	 * Writes an entry of a kind that the format knows at its top level, for example `compaction`.
	 * @throws {AgentError} as `append`.
	 */
	write(draft: EntryDraft, options?: { readonly expect?: number }): Entry;
	/** The entries from the root to the leaf, of the wanted kinds or all; read on demand, so ask for what is needed. */
	branch(kinds?: ReadonlySet<string>): Entry[];
	/** The entries from the leaf back to the root, read one by one: stop early when enough is known. */
	fromLeaf(): Iterable<Entry>;
	/** The conversation as the model sees it, the summary of a compaction included. */
	messages(): AgentMessage[];
	/** Tells clients something live under a specified event name. */
	emit(name: string, data: Readonly<Record<string, unknown>>): void;
	/** Tells people something in words. */
	notify(level: "info" | "warning", text: string): void;
	/** Answers an operation; each operation has one handler. */
	handle<P, R>(operation: Operation<P, R>, run: (params: P, context: CallContext) => R | Promise<R>): void;
	/** Calls an operation of another feature, by its contract. */
	call<P, R>(operation: Operation<P, R>, params: P, signal?: AbortSignal): Promise<R>;
	/** Queues something to be said to the model and wakes the session. */
	enqueue(item: Enqueue): Delivery;
	/** Changes or refuses what is about to happen at a point. */
	before<Point extends GatePoint>(
		point: Point,
		run: (value: GateValues[Point]) => GateVerdict<Point> | Promise<GateVerdict<Point>>,
	): void;
	/** Asks the gates of a point: the values as the gates changed them, or the refusal of the first that refused. */
	pass<Point extends GatePoint>(point: Point, value: GateValues[Point]): Promise<GateValues[Point] | Refusal>;
	/** Looks at a moment. */
	on<Name extends keyof Moments>(moment: Name, run: (value: Moments[Name]) => void | Promise<void>): void;
	/** Has a say between two turns. */
	atBoundary(phase: Phase, run: BoundaryHook): void;
	/** Gives the model a tool. @throws {Error} when another one has its name. */
	registerTool(tool: AgentTool): void;
	/** Gives people a command. @throws {Error} when another one has its name. */
	registerCommand(command: Command): void;
	/** Adds a part to the system prompt; read once, when the first request is made. */
	registerPromptPart(name: string, text: () => string): void;
	/** @throws {Error} when nobody supplies the port. */
	port<T>(token: PortToken<T>): T;
	/** A port that a session may do without. */
	findPort<T>(token: PortToken<T>): T | undefined;
	/** Aborts when the session is disposed. */
	readonly signal: AbortSignal;
}

/** A unit of behaviour; built-in features and extensions have the same shape. */
export interface Feature<State = undefined> {
	readonly name: string;
	readonly initial?: State;
	/** The entry kinds that `reduce` reads, for example `custom:thread_goal_state`; others are not even parsed. */
	readonly reads?: readonly string[];
	/** Pure: the same function rebuilds the state on resume, on navigation and in clients. */
	readonly reduce?: (state: State, entry: Entry) => State;
	setup(host: FeatureHost<State>): void;
}

/** Gives a feature its types. */
export function defineFeature<State = undefined>(feature: Feature<State>): Feature<State> {
	return feature;
}

/** A feature whose state type nobody needs to know; the cast is confined to this name. */
// biome-ignore lint/suspicious/noExplicitAny: a list of features holds different state types.
export type AnyFeature = Feature<any>;
