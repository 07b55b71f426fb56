import { createConnection, type Socket } from "node:net";
import { checkGreeting, encodeMessage, FrameDecoder, makeGreeting, makeReady, readCommand } from "./frames.ts";

/** Where a ZeroMQ socket is bound. */
export type Endpoint = { readonly path: string } | { readonly host: string; readonly port: number };

/** A connection to a ZeroMQ socket failed or was lost. */
export class ZmtpError extends Error {
	override name = "ZmtpError";
	readonly code = "zmtp_failed";
}

/** How a connection is made and who hears of it. */
export interface ZmtpOptions {
	/** `SUB` takes part in everything that is published. */
	readonly type: "DEALER" | "SUB";
	readonly signal: AbortSignal;
	readonly onMessage: (frames: readonly Buffer[]) => void;
	/** Called once when an open connection ends, unless `close()` ended it. */
	readonly onLost: (error: ZmtpError) => void;
}

/** An open connection to one ZeroMQ socket. */
export class ZmtpSocket {
	readonly #socket: Socket;

	constructor(socket: Socket) {
		this.#socket = socket;
	}

	/** Queues one message; after the end of the connection it goes nowhere. */
	send(frames: readonly Uint8Array[]): void {
		if (this.#socket.writable) this.#socket.write(encodeMessage(frames));
	}

	/** Ends the connection; what is queued is still sent. */
	close(): void {
		this.#socket.removeAllListeners("close");
		this.#socket.end();
		this.#socket.unref();
	}
}

/**
 * Connects; resolves once both sides are ready.
 * @throws {ZmtpError} when nobody listens, the other side speaks something else, or the signal aborts.
 */
export function connectZmtp(endpoint: Endpoint, options: ZmtpOptions): Promise<ZmtpSocket> {
	const { promise, resolve, reject } = Promise.withResolvers<ZmtpSocket>();
	const socket = createConnection({ ...endpoint, noDelay: true });
	const name = "path" in endpoint ? endpoint.path : `${endpoint.host}:${endpoint.port}`;
	let isOpen = false;
	let problem: Error | undefined;
	const onAbort = () => fail("the connection was called off");
	const fail = (reason: string) => {
		problem ??= new Error(reason);
		socket.destroy();
	};
	const decoder = new FrameDecoder({
		onGreeting: (greeting) => {
			const wrong = checkGreeting(greeting);
			if (wrong) fail(wrong);
			else socket.write(makeReady(options.type));
		},
		onCommand: (body) => {
			const { name: command, data } = readCommand(body);
			if (command === "ERROR") fail(`the other side refused: ${data.toString("latin1", 1)}`);
			if (command !== "READY" || isOpen) return;
			isOpen = true;
			options.signal.removeEventListener("abort", onAbort);
			// to everything: a SUB of version 3.0 subscribes by a message
			if (options.type === "SUB") socket.write(encodeMessage([Buffer.from([1])]));
			resolve(new ZmtpSocket(socket));
		},
		onMessage: (frames) => {
			if (isOpen) options.onMessage(frames);
			else fail("the other side sent a message before it was ready");
		},
		onBroken: (reason) => fail(`the other side sent ${reason}`),
	});
	socket.on("data", (data: Buffer) => decoder.push(data));
	socket.on("error", (error) => {
		problem ??= error;
	});
	socket.on("close", () => {
		options.signal.removeEventListener("abort", onAbort);
		const reason = problem?.message ?? "the other side closed the connection";
		const error = new ZmtpError(`The connection to ${name} ended: ${reason}`, { cause: problem });
		if (isOpen) options.onLost(error);
		else reject(error);
	});
	socket.write(makeGreeting());
	options.signal.addEventListener("abort", onAbort, { once: true });
	if (options.signal.aborted) onAbort();
	return promise;
}
