import { createHmac, randomUUID, timingSafeEqual } from "node:crypto";
import type { Message } from "../builtin/messages.ts";

const DELIMITER = Buffer.from("<IDS|MSG>");
/** Of Jupyter's messages; see https://jupyter-client.readthedocs.io/en/stable/messaging.html */
const VERSION = "5.3";

/** A Jupyter message that was checked. */
export interface JupyterMessage {
	readonly type: string;
	/** Id of the message that this one answers; empty when it answers none. */
	readonly answers: string;
	readonly content: Message;
}

/** Makes and checks the messages of one session: all are signed with the key that both sides know. */
export class JupyterSession {
	readonly #key: string;
	readonly #id = randomUUID();

	constructor(key: string) {
		this.#key = key;
	}

	/** The frames of a new message, and its id. */
	make(type: string, content: Message): { readonly id: string; readonly frames: readonly Buffer[] } {
		const id = randomUUID();
		// without a date, which nobody reads: the kernel would load a parser of all kinds of dates for it
		const header = { msg_id: id, msg_type: type, session: this.#id, username: "prime-agent", version: VERSION };
		const parts = [header, {}, {}, content].map((part) => Buffer.from(JSON.stringify(part)));
		return { id, frames: [DELIMITER, Buffer.from(this.#sign(parts)), ...parts] };
	}

	/** The message in frames that were received, or undefined when they are none or the signature is wrong. */
	read(frames: readonly Buffer[]): JupyterMessage | undefined {
		const start = frames.findIndex((frame) => frame.equals(DELIMITER));
		const signature = frames[start + 1];
		const parts = frames.slice(start + 2, start + 6);
		if (start < 0 || !signature || parts.length < 4) return undefined;
		const expected = Buffer.from(this.#sign(parts));
		if (signature.length !== expected.length || !timingSafeEqual(signature, expected)) return undefined;
		const [header, parent, , content] = parts.map(readObject);
		if (!header || !content || typeof header.msg_type !== "string") return undefined;
		return { type: header.msg_type, answers: typeof parent?.msg_id === "string" ? parent.msg_id : "", content };
	}

	#sign(parts: readonly Buffer[]): string {
		const hash = createHmac("sha256", this.#key);
		for (const part of parts) hash.update(part);
		return hash.digest("hex");
	}
}

function readObject(data: Buffer): Message | undefined {
	try {
		const value: unknown = JSON.parse(data.toString("utf8"));
		return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Message) : undefined;
	} catch {
		return undefined;
	}
}
