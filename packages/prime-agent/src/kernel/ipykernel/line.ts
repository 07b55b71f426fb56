import { ignore } from "../../lib/ignore.ts";
import { type Line, type Message, text } from "../builtin/messages.ts";
import { connectZmtp, type Endpoint, type ZmtpSocket } from "../zmtp/socket.ts";
import { CellEnd } from "./cell-end.ts";
import { type JupyterMessage, JupyterSession } from "./messages.ts";

/** The comm that requests of cells travel by; the same as in the runtime's `jupyter/wire.py`. */
const COMM = "host.request";
/** The guardian says how a kernel ended; only if it does not, the loss of a socket speaks. */
const LOST_MS = 2000;
/** A subscription takes effect a moment after it was sent. */
const ASK_AGAIN_MS = 100;

/** Where the sockets of a kernel are and the key that its messages are signed with. */
export interface Connection {
	readonly shell: Endpoint;
	readonly control: Endpoint;
	readonly iopub: Endpoint;
	readonly key: string;
}

/** The connection that a kernel tells once its sockets are bound, or undefined when it is none. */
export function readConnection(value: unknown): Connection | undefined {
	const { transport, ip, ports, key } = (value ?? {}) as Message;
	const { shell, control, iopub } = (ports ?? {}) as Message;
	if (typeof ip !== "string" || typeof key !== "string" || key === "") return undefined;
	const at = (port: unknown): Endpoint =>
		transport === "ipc" ? { path: `${ip}-${port}` } : { host: ip, port: Number(port) };
	return { shell: at(shell), control: at(control), iopub: at(iopub), key };
}

/**
 * Connects to a kernel; resolves once it answers and what it publishes arrives.
 * @throws {ZmtpError} when a socket cannot be reached or the signal aborts.
 */
export async function connectKernel(connection: Connection, signal: AbortSignal): Promise<Line> {
	const line = new JupyterLine(connection);
	try {
		await line.open(signal);
		return line;
	} catch (error) {
		line.close();
		throw error;
	}
}

class JupyterLine implements Line {
	readonly #connection: Connection;
	readonly #session: JupyterSession;
	readonly #end = new CellEnd((done) => this.#onMessage({ op: "done", ...done }));
	#sockets: ZmtpSocket[] = [];
	#lost: NodeJS.Timeout | undefined;
	#isClosed = false;
	#onMessage: (message: Message) => void = () => undefined;
	#onBroken: (reason: string) => void = () => undefined;
	#onAnswer: (message: JupyterMessage) => void = () => undefined;

	constructor(connection: Connection) {
		this.#connection = connection;
		this.#session = new JupyterSession(connection.key);
	}

	async open(signal: AbortSignal): Promise<void> {
		const { shell, control, iopub } = this.#connection;
		const connect = (endpoint: Endpoint, type: "DEALER" | "SUB") =>
			connectZmtp(endpoint, {
				type,
				signal,
				onMessage: (frames) => this.#receive(frames),
				onLost: (error) => this.#lose(error),
			});
		const opening = [connect(shell, "DEALER"), connect(control, "DEALER"), connect(iopub, "SUB")];
		const opened = await Promise.allSettled(opening);
		this.#sockets = opened.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
		await Promise.all(opening);
		await this.#hear(signal);
	}

	listen(onMessage: (message: Message) => void, onBroken: (reason: string) => void): void {
		this.#onMessage = onMessage;
		this.#onBroken = onBroken;
	}

	send(message: Message): void {
		if (message.op === "execute") {
			const { cell, code } = message;
			const options = { silent: false, store_history: true, allow_stdin: false, stop_on_error: false };
			this.#end.begin(this.#post(0, "execute_request", { ...options, code, cell, user_expressions: {} }), cell);
		} else if (message.op === "interrupt") this.#post(1, "interrupt_request", { cell: message.cell });
		else if (message.op === "shutdown") this.#post(1, "shutdown_request", { restart: false });
		else this.#post(1, "comm_msg", { comm_id: COMM, data: message });
	}

	close(): void {
		this.#isClosed = true;
		clearTimeout(this.#lost);
		this.#end.stop();
		for (const socket of this.#sockets) socket.close();
	}

	/** Asks until an answer and something that is published with it have arrived. */
	async #hear(signal: AbortSignal): Promise<void> {
		const { promise, resolve, reject } = Promise.withResolvers<void>();
		const seen = { shell: false, iopub: false };
		const asked = new Set<string>();
		const ask = () => asked.add(this.#post(0, "kernel_info_request", {}));
		this.#onAnswer = ({ type, answers }) => {
			if (!asked.has(answers)) return;
			if (type === "kernel_info_reply") seen.shell = true;
			else seen.iopub = true;
			if (seen.shell && seen.iopub) resolve();
			else if (seen.shell) again.refresh();
		};
		this.#onBroken = (reason) => reject(new Error(reason));
		const again = setTimeout(() => (seen.shell ? ask() : again.refresh()), ASK_AGAIN_MS);
		const onAbort = () => reject(signal.reason);
		signal.addEventListener("abort", onAbort, { once: true });
		ask();
		try {
			await promise;
		} finally {
			clearTimeout(again);
			signal.removeEventListener("abort", onAbort);
			this.#onAnswer = () => undefined;
		}
	}

	#post(channel: 0 | 1, type: string, content: Message): string {
		const { id, frames } = this.#session.make(type, content);
		this.#sockets[channel]?.send(frames);
		return id;
	}

	#lose(error: Error): void {
		if (this.#isClosed) return;
		this.#lost ??= setTimeout(() => this.#onBroken(`a connection to it was lost: ${error.message}`), LOST_MS);
	}

	#receive(frames: readonly Buffer[]): void {
		const message = this.#session.read(frames);
		if (!message) {
			ignore(new Error("a Jupyter message with a wrong signature"), "only what the kernel has signed counts");
			return;
		}
		const { type, answers, content } = message;
		this.#onAnswer(message);
		if (type === "stream") this.#onMessage({ op: "chunk", stream: content.name, text: text(content.text) });
		else if (type === "display_data") {
			this.#onMessage({ op: "display", cell: this.#end.cellOf(answers), bundle: content.data });
		} else if (type === "comm_msg" && content.comm_id === COMM) {
			const data = (content.data ?? {}) as Message;
			if (data.op === "request" || data.op === "cancel" || data.op === "answer") this.#onMessage(data);
		} else if (type === "execute_reply") this.#end.takeReply(answers, content);
		else if (type === "status" && content.execution_state === "idle") this.#end.takeIdle(answers);
	}
}
