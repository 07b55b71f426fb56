// ZMTP 3.0, https://rfc.zeromq.org/spec/23: the bytes between two sockets of ZeroMQ.

const MORE = 1;
const LONG = 2;
const COMMAND = 4;
/** No message of a kernel is as large as this; a larger one is refused instead of filling the memory. */
const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;
const MAX_FRAMES = 1000;

/** Length of a greeting. */
export const GREETING_BYTES = 64;

/** What a peer sends first: version 3.0, no security. */
export function makeGreeting(): Buffer {
	const greeting = Buffer.alloc(GREETING_BYTES);
	greeting[0] = 0xff;
	greeting[9] = 0x7f;
	greeting[10] = 3;
	greeting.write("NULL", 12, "latin1");
	return greeting;
}

/** What is wrong with a greeting of the other side, or undefined. */
export function checkGreeting(greeting: Buffer): string | undefined {
	if (greeting[0] !== 0xff || greeting[9] !== 0x7f) return "the other side does not speak ZMTP";
	if ((greeting[10] ?? 0) < 3) return `the other side speaks version ${greeting[10]} of ZMTP, and 3 is needed`;
	const mechanism = greeting.toString("latin1", 12, 32).replace(/\0+$/, "");
	return mechanism === "NULL" ? undefined : `the other side wants the security mechanism ${mechanism}`;
}

/** The command that ends the handshake. */
export function makeReady(socketType: string): Buffer {
	const type = Buffer.from(socketType, "latin1");
	const size = Buffer.alloc(4);
	size.writeUInt32BE(type.length);
	const body = [text("READY"), text("Socket-Type"), size, type, text("Identity"), Buffer.alloc(4)];
	return encodeFrame(Buffer.concat(body), COMMAND);
}

function text(word: string): Buffer {
	return Buffer.concat([Buffer.from([word.length]), Buffer.from(word, "latin1")]);
}

/** The name of a command, with what follows it. */
export function readCommand(body: Buffer): { readonly name: string; readonly data: Buffer } {
	const length = body[0] ?? 0;
	return { name: body.toString("latin1", 1, 1 + length), data: body.subarray(1 + length) };
}

/** The bytes of a message of several frames. */
export function encodeMessage(frames: readonly Uint8Array[]): Buffer {
	return Buffer.concat(frames.map((frame, index) => encodeFrame(frame, index < frames.length - 1 ? MORE : 0)));
}

function encodeFrame(body: Uint8Array, flags: number): Buffer {
	if (body.length < 256) return Buffer.concat([Buffer.from([flags, body.length]), body]);
	const head = Buffer.alloc(9);
	head[0] = flags | LONG;
	head.writeBigUInt64BE(BigInt(body.length), 1);
	return Buffer.concat([head, body]);
}

/** What a decoder finds. */
export interface FrameHandlers {
	readonly onGreeting: (greeting: Buffer) => void;
	readonly onCommand: (body: Buffer) => void;
	readonly onMessage: (frames: readonly Buffer[]) => void;
	/** Called once when the stream makes no sense; nothing follows. */
	readonly onBroken: (reason: string) => void;
}

type Step = "greeting" | "flags" | "size" | "body";

/** Splits a byte stream, in pieces of any size, into the greeting and what follows it. */
export class FrameDecoder {
	readonly #handlers: FrameHandlers;
	#chunks: Buffer[] = [];
	#buffered = 0;
	#step: Step = "greeting";
	#isBroken = false;
	#needed = GREETING_BYTES;
	#flags = 0;
	#frames: Buffer[] = [];
	#size = 0;

	constructor(handlers: FrameHandlers) {
		this.#handlers = handlers;
	}

	/** Takes in the next bytes. */
	push(data: Buffer): void {
		if (this.#isBroken) return;
		this.#chunks.push(data);
		this.#buffered += data.length;
		while (!this.#isBroken && this.#buffered >= this.#needed) this.#advance(this.#step, this.#take());
	}

	#advance(step: Step, part: Buffer): void {
		if (step === "greeting") {
			this.#expect("flags", 1);
			this.#handlers.onGreeting(part);
		} else if (step === "flags") {
			this.#flags = part[0] ?? 0;
			if (this.#flags > 7 || (this.#flags & COMMAND && this.#flags & MORE)) this.#fail("a frame of an unknown kind");
			else this.#expect("size", this.#flags & LONG ? 8 : 1);
		} else if (step === "size") {
			this.#beginBody(part.length === 1 ? (part[0] ?? 0) : Number(part.readBigUInt64BE()));
		} else {
			this.#expect("flags", 1);
			this.#endFrame(part);
		}
	}

	#beginBody(size: number): void {
		if (this.#size + size > MAX_MESSAGE_BYTES) this.#fail("a message larger than 64 MB");
		else if (this.#frames.length >= MAX_FRAMES) this.#fail("a message of too many frames");
		else this.#expect("body", size);
	}

	#endFrame(body: Buffer): void {
		if (this.#flags & COMMAND) {
			this.#handlers.onCommand(body);
			return;
		}
		this.#frames.push(body);
		this.#size += body.length;
		if (this.#flags & MORE) return;
		const frames = this.#frames;
		this.#frames = [];
		this.#size = 0;
		this.#handlers.onMessage(frames);
	}

	#expect(step: Step, bytes: number): void {
		this.#step = step;
		this.#needed = bytes;
	}

	#fail(reason: string): void {
		this.#isBroken = true;
		this.#chunks = [];
		this.#frames = [];
		this.#handlers.onBroken(reason);
	}

	/** The next needed bytes; pieces are joined once, when all are there. */
	#take(): Buffer {
		const first = this.#chunks[0];
		if (first && first.length >= this.#needed) {
			const part = first.subarray(0, this.#needed);
			if (first.length === this.#needed) this.#chunks.shift();
			else this.#chunks[0] = first.subarray(this.#needed);
			this.#buffered -= this.#needed;
			return part;
		}
		const all = Buffer.concat(this.#chunks);
		this.#buffered = all.length - this.#needed;
		this.#chunks = this.#buffered > 0 ? [all.subarray(this.#needed)] : [];
		return all.subarray(0, this.#needed);
	}
}
