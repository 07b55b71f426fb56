/** The vocabulary of scripts: what a mock model answers and in which bytes the answer travels. */

import type { RecordedRequest } from "./request.ts";

/** One tool call of a scripted reply. `arguments` as text is sent as it is, so that it may be cut or malformed. */
export interface ScriptedCall {
	/** Sent id; one is made up when absent. The empty text leaves the id out of the stream. */
	readonly id?: string;
	readonly name: string;
	readonly arguments: object | string;
}

/** Token counts of a scripted reply. `input` counts everything that was read, cached or not; `output` includes `reasoning`. */
export interface ScriptedUsage {
	readonly input?: number;
	readonly output?: number;
	readonly cacheRead?: number;
	readonly cacheWrite?: number;
	readonly reasoning?: number;
}

/** Why a scripted reply ends; by default `tools` when it calls something, else `stop`. Each format sends its own word. */
export type ScriptedFinish = "stop" | "tools" | "length" | "refusal";

/** One piece of a reply, for replies whose order is not thinking, text, calls. */
export type ScriptedBlock =
	| { readonly type: "thinking"; readonly text: string; readonly redacted?: boolean }
	| { readonly type: "text"; readonly text: string }
	| ({ readonly type: "call" } & ScriptedCall);

/** How the bytes of an answer travel. Everything is off by default: a well-formed answer, one event per write. */
export interface WireOptions {
	/** Bytes per write: every byte alone, n at a time, or cuts at these offsets of the body. */
	readonly split?: "byte" | number | readonly number[];
	/** One comment line before every event; during a silence one comment every 20 ms, or as often as given. */
	readonly comments?: boolean | { readonly everyMs: number };
	/** Lines end with CR LF. */
	readonly crlf?: boolean;
	/**
	 * `missing`: no end marker; `no-finish`: no finish reason, the marker comes; `cut`: neither, the body just ends;
	 * `disconnect-after-N-events`: the socket is closed after N events without ending the body. In Responses and Gemini
	 * one event is finish reason and end marker, so that the first three mean the same.
	 */
	readonly end?: "done" | "missing" | "no-finish" | "cut" | `disconnect-after-${number}-events`;
	/** An error event in the stream, after the content and instead of its end; the format wraps the object. */
	readonly errorInStream?: object;
	/** Stops sending: for good, for a time, or until a promise is kept. What was sent before is flushed. */
	readonly silence?:
		| "before-headers"
		| "after-headers"
		| { readonly beforeHeadersMs: number }
		| { readonly afterEvents: number; readonly forMs?: number; readonly until?: Promise<unknown> };
	/** Milliseconds before each event; for a raw answer before its body. */
	readonly delayMs?: number;
	/** Sends the finish event twice. */
	readonly duplicateFinish?: boolean;
	/** Response headers, added to or replacing the usual ones. */
	readonly headers?: Readonly<Record<string, string>>;
	/** Last change to the framed events before they are sent: cut, duplicate, reorder. */
	readonly mutate?: (frames: readonly Buffer[]) => readonly Buffer[];
}

/** A normal streamed reply. */
export interface ReplyOptions extends WireOptions {
	readonly text?: string;
	readonly thinking?: string;
	readonly calls?: readonly ScriptedCall[];
	/** Replaces `thinking`, `text` and `calls` where the order matters. */
	readonly blocks?: readonly ScriptedBlock[];
	/** Deltas of parallel calls alternate instead of coming one call after the other (chat completions). */
	readonly interleave?: boolean;
	/** Ids and names of calls come with the last delta of the call instead of the first (chat completions). */
	readonly lateIds?: boolean;
	readonly usage?: ScriptedUsage;
	readonly finish?: ScriptedFinish;
	/** Characters (code points) per delta, 16 by default. */
	readonly chunk?: number;
}

/** An answer sent as it is: an object becomes JSON. */
export interface RawOptions extends WireOptions {
	readonly status: number;
	readonly body?: string | Buffer | object;
}

/** A reply in the script. */
export interface ReplyStep {
	readonly kind: "reply";
	readonly reply: ReplyOptions;
}

/** A raw answer in the script. */
export interface RawStep {
	readonly kind: "raw";
	readonly raw: RawOptions;
}

/** One answer of a script, or a function that makes it from the request it answers. */
export type Step = ReplyStep | RawStep | ((request: RecordedRequest) => Step | Promise<Step>);

/** A normal streamed reply: thinking, then text, then calls. */
export function reply(options: ReplyOptions): ReplyStep {
	return { kind: "reply", reply: options };
}

/** An answer with this status, these headers and this body. */
export function raw(options: RawOptions): RawStep {
	return { kind: "raw", raw: options };
}

/** The blocks of a reply in the order they are sent. */
export function listBlocks(options: ReplyOptions): readonly ScriptedBlock[] {
	if (options.blocks) return options.blocks;
	const blocks: ScriptedBlock[] = [];
	if (options.thinking !== undefined) blocks.push({ type: "thinking", text: options.thinking });
	if (options.text !== undefined) blocks.push({ type: "text", text: options.text });
	for (const call of options.calls ?? []) blocks.push({ type: "call", ...call });
	return blocks;
}

/** The finish of a reply: as scripted, else `tools` when it calls something, else `stop`. */
export function resolveFinish(options: ReplyOptions): ScriptedFinish {
	if (options.finish) return options.finish;
	return listBlocks(options).some((block) => block.type === "call") ? "tools" : "stop";
}

/** The arguments of a call as the text that is sent. */
export function argumentsText(call: ScriptedCall): string {
	return typeof call.arguments === "string" ? call.arguments : JSON.stringify(call.arguments);
}

/** Cuts a text into pieces of `size` code points; an empty text gives no piece. */
export function cutText(text: string, size = 16): string[] {
	const points = Array.from(text);
	const pieces: string[] = [];
	for (let at = 0; at < points.length; at += size) pieces.push(points.slice(at, at + size).join(""));
	return pieces;
}
