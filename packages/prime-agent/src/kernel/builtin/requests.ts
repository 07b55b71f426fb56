import { errorText } from "../../lib/text.ts";
import type { HostRequestHandler } from "../../session/ports.ts";
import type { Message } from "./messages.ts";

/** Answers the requests that code in cells sends, any number at a time. */
export class Requests {
	readonly #handler: HostRequestHandler;
	readonly #send: (message: Message) => void;
	readonly #running = new Map<number, AbortController>();

	constructor(handler: HostRequestHandler, send: (message: Message) => void) {
		this.#handler = handler;
		this.#send = send;
	}

	/** Takes in a `request` message. */
	begin(message: Message): void {
		const { id, type, payload } = message;
		if (typeof id !== "number") return;
		const stop = new AbortController();
		this.#running.set(id, stop);
		const fields = typeof payload === "object" && payload !== null ? (payload as Message) : {};
		void this.#answer(id, String(type), fields, stop.signal).finally(() => this.#running.delete(id));
	}

	/** Takes in a `cancel` message: nobody waits for the answer any more. */
	cancel(message: Message): void {
		if (typeof message.id === "number") this.#running.get(message.id)?.abort(new Error("The cell stopped waiting."));
	}

	/** Stops all: the kernel has ended. */
	stop(): void {
		for (const stop of this.#running.values()) stop.abort(new Error("The kernel has ended."));
	}

	async #answer(id: number, type: string, payload: Message, signal: AbortSignal): Promise<void> {
		try {
			const value = (await this.#handler(type, payload, signal)) ?? null;
			this.#send({ op: "reply", id, ok: true, value });
		} catch (error) {
			this.#send({ op: "reply", id, ok: false, value: errorText(error) });
		}
	}
}
