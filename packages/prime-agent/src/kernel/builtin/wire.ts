import type { Duplex } from "node:stream";
import { ignore } from "../../lib/ignore.ts";
import { JsonLines } from "../lines.ts";
import type { Line, Message } from "./messages.ts";

/** The guardian says how a kernel ended; only if it does not, the end of its line speaks. */
const LOST_MS = 2000;

/** Messages as JSON, one a line, over a pipe of the process. */
export class WireLine implements Line {
	readonly #wire: Duplex;
	#isClosed = false;
	#lost: NodeJS.Timeout | undefined;

	constructor(wire: Duplex) {
		this.#wire = wire;
	}

	send(message: Message): void {
		const line = `${JSON.stringify(message)}\n`;
		if (this.#wire.writable) this.#wire.write(line);
	}

	listen(onMessage: (message: Message) => void, onBroken: (reason: string) => void): void {
		const lines = new JsonLines(onMessage, (reason) => onBroken(`it sent ${reason}`));
		this.#wire.on("data", (data: Buffer) => lines.push(data));
		this.#wire.once("close", () => {
			if (!this.#isClosed) this.#lost = setTimeout(() => onBroken("its line was closed"), LOST_MS);
		});
		this.#wire.on("error", (error) => ignore(error, "the guardian reports how the kernel ended"));
	}

	close(): void {
		// the kernel has ended, and the pipe with it
		this.#isClosed = true;
		this.#wire.destroy();
		clearTimeout(this.#lost);
	}
}
