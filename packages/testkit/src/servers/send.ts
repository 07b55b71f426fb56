/** Puts an answer on the wire: framing, splits, pauses and the odd ends that scripts ask for. */

import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { RawOptions, WireOptions } from "./step.ts";

/**
 * What an event is for, so that a script can leave it out, double it or put an error in its place. `last` is finish and
 * end marker in one.
 */
export type FramePart = "content" | "finish" | "usage" | "end" | "last";

/** One server-sent event before framing. */
export interface Frame {
	readonly event?: string;
	readonly data: string;
	readonly part: FramePart;
}

/** Leaves out, doubles and replaces events as the script says. */
export function arrangeFrames(frames: readonly Frame[], wire: WireOptions, error: Frame | undefined): Frame[] {
	const arranged: Frame[] = [];
	for (const frame of frames) {
		if (frame.part !== "content" && (error || wire.end === "cut")) continue;
		if ((frame.part === "end" || frame.part === "last") && wire.end === "missing") continue;
		if ((frame.part === "finish" || frame.part === "last") && wire.end === "no-finish") continue;
		arranged.push(frame);
		if ((frame.part === "finish" || frame.part === "last") && wire.duplicateFinish) arranged.push(frame);
	}
	if (error) arranged.push(error);
	return arranged;
}

/** The bytes of one event. */
function frameEvent(frame: Frame, wire: WireOptions): Buffer {
	const lineEnd = wire.crlf ? "\r\n" : "\n";
	const lines = wire.comments ? [": keep-alive", ""] : [];
	if (frame.event !== undefined) lines.push(`event: ${frame.event}`);
	lines.push(`data: ${frame.data}`, "", "");
	return Buffer.from(lines.join(lineEnd));
}

/** Streams events until they are sent, the socket is cut, or `signal` aborts because the client or the server went. */
export async function sendEvents(
	response: ServerResponse,
	frames: readonly Frame[],
	wire: WireOptions,
	signal: AbortSignal,
): Promise<void> {
	await waitBeforeHeaders(wire, signal);
	const framed = frames.map((frame) => frameEvent(frame, wire));
	const buffers = wire.mutate ? wire.mutate(framed) : framed;
	response.writeHead(200, {
		"content-type": "text/event-stream; charset=utf-8",
		"cache-control": "no-cache",
		...wire.headers,
	});
	response.flushHeaders();
	if (wire.silence === "after-headers") await keepSilent(response, wire, {}, signal);
	const cutAfter = disconnectCount(wire.end);
	const writer = new SplitWriter(response, wire.split);
	for (const [index, buffer] of buffers.entries()) {
		if (index === cutAfter) break;
		await pauseAt(index, response, wire, writer, signal);
		if (wire.delayMs) await sleep(wire.delayMs, undefined, { signal });
		await writer.write(buffer, Boolean(wire.delayMs));
	}
	await pauseAt(buffers.length, response, wire, writer, signal);
	await writer.flush();
	if (cutAfter === undefined) response.end();
	else response.socket?.destroy();
}

/** Sends a raw answer with the same pauses and splits. */
export async function sendRaw(response: ServerResponse, raw: RawOptions, signal: AbortSignal): Promise<void> {
	await waitBeforeHeaders(raw, signal);
	const isBytes = typeof raw.body === "string" || Buffer.isBuffer(raw.body) || raw.body === undefined;
	const body = isBytes ? Buffer.from((raw.body as string | Buffer | undefined) ?? "") : JSON.stringify(raw.body);
	response.writeHead(raw.status, { "content-type": isBytes ? "text/plain" : "application/json", ...raw.headers });
	if (raw.silence === "after-headers") {
		response.flushHeaders();
		await keepSilent(response, raw, {}, signal);
	}
	if (raw.delayMs) await sleep(raw.delayMs, undefined, { signal });
	const writer = new SplitWriter(response, raw.split);
	await writer.write(Buffer.from(body), false);
	await writer.flush();
	if (disconnectCount(raw.end) === undefined) response.end();
	else response.socket?.destroy();
}

function disconnectCount(end: WireOptions["end"]): number | undefined {
	const match = /^disconnect-after-(\d+)-events$/.exec(end ?? "");
	return match ? Number(match[1]) : undefined;
}

async function waitBeforeHeaders(wire: WireOptions, signal: AbortSignal): Promise<void> {
	if (wire.silence === "before-headers") await waitForever(signal);
	if (typeof wire.silence === "object" && "beforeHeadersMs" in wire.silence) {
		await sleep(wire.silence.beforeHeadersMs, undefined, { signal });
	}
}

async function pauseAt(
	index: number,
	response: ServerResponse,
	wire: WireOptions,
	writer: SplitWriter,
	signal: AbortSignal,
): Promise<void> {
	const silence = wire.silence;
	if (typeof silence !== "object" || !("afterEvents" in silence) || silence.afterEvents !== index) return;
	await writer.flush();
	await keepSilent(response, wire, silence, signal);
}

/** Sends nothing, or comments alone, for a time, until a promise is kept, or until the signal aborts. */
async function keepSilent(
	response: ServerResponse,
	wire: WireOptions,
	{ forMs, until }: { readonly forMs?: number; readonly until?: Promise<unknown> },
	signal: AbortSignal,
): Promise<void> {
	const ends: Promise<unknown>[] = [waitForever(signal)];
	if (forMs !== undefined) ends.push(sleep(forMs, undefined, { signal }));
	if (until) ends.push(until);
	let isOver = false;
	const over = Promise.race(ends).finally(() => {
		isOver = true;
	});
	const everyMs = typeof wire.comments === "object" ? wire.comments.everyMs : 20;
	while (wire.comments && !isOver) {
		response.write(wire.crlf ? ": keep-alive\r\n\r\n" : ": keep-alive\n\n");
		await Promise.race([over, sleep(everyMs, undefined, { signal })]);
	}
	await over;
}

function waitForever(signal: AbortSignal): Promise<never> {
	return new Promise((_resolve, reject) => {
		if (signal.aborted) reject(signal.reason);
		signal.addEventListener("abort", () => reject(signal.reason), { once: true });
	});
}

/**
 * Cuts the body where the script says. Each write is one HTTP chunk, which clients hand on as one piece, so that a cut
 * arrives as a cut however TCP packs it.
 */
class SplitWriter {
	readonly #response: ServerResponse;
	readonly #split: WireOptions["split"];
	#held: Buffer[] = [];
	#offset = 0;

	constructor(response: ServerResponse, split: WireOptions["split"]) {
		this.#response = response;
		this.#split = split;
	}

	/** Without a split the event goes out at once; with one it is held until enough is there to cut, or flushed. */
	async write(buffer: Buffer, now: boolean): Promise<void> {
		if (this.#split === undefined) return this.#send(buffer);
		this.#held.push(buffer);
		if (now) await this.flush();
	}

	/** Sends what is held, cut. */
	async flush(): Promise<void> {
		const body = Buffer.concat(this.#held);
		this.#held = [];
		const cuts = cutPositions(this.#split, this.#offset, body.length);
		let from = 0;
		for (const to of [...cuts, body.length]) {
			if (to > from) await this.#send(body.subarray(from, to));
			from = to;
		}
		this.#offset += body.length;
	}

	#send(buffer: Buffer): Promise<void> {
		return new Promise((resolve, reject) => {
			// A turn of the event loop lets a client in this process read the piece before the next one joins it.
			this.#response.write(buffer, (error) => (error ? reject(error) : setImmediate(() => setImmediate(resolve))));
		});
	}
}

function cutPositions(split: WireOptions["split"], offset: number, length: number): number[] {
	if (split === undefined) return [];
	if (typeof split === "object") {
		return split.map((at) => at - offset).filter((at) => at > 0 && at < length);
	}
	const size = split === "byte" ? 1 : split;
	const cuts: number[] = [];
	for (let at = size - (offset % size); at < length; at += size) cuts.push(at);
	return cuts;
}
