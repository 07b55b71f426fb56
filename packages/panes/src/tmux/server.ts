import { spawn } from "node:child_process";
import { TmuxError } from "../errors.ts";
import { ignore } from "../ignore.ts";

/** Which tmux server to talk to: a socket name (`-L`), a socket path (`-S`), or tmux's default. */
export interface ServerAddress {
	readonly name?: string;
	readonly path?: string;
}

/** What one tmux process printed and how it ended. */
export interface TmuxReply {
	readonly code: number;
	readonly stdout: string;
	readonly stderr: string;
}

/** Options of a call: text for standard input and a signal that ends the wait. */
export interface CallOptions {
	readonly input?: string;
	readonly signal?: AbortSignal | undefined;
}

const CALL_LIMIT_MS = 5000;

/**
 * Picks the server: an explicit name wins (empty counts as absent), then the socket in `$TMUX`, then tmux's default.
 */
export function chooseServer(name: string | undefined, env: NodeJS.ProcessEnv): ServerAddress {
	if (name !== undefined && name !== "") return { name };
	const socket = env.TMUX?.split(",")[0];
	return socket ? { path: socket } : {};
}

/** One tmux server. Arguments go as a vector, never through a shell; every call has its own 5 s limit. */
export class Tmux {
	readonly address: ServerAddress;
	readonly #env: NodeJS.ProcessEnv;
	readonly #limitMs: number;
	/** How many tmux processes this object has started; the cost of a verb. */
	calls = 0;

	constructor(
		address: ServerAddress = {},
		options: { env?: NodeJS.ProcessEnv | undefined; limitMs?: number | undefined } = {},
	) {
		this.address = address;
		this.#env = forServer(options.env ?? process.env);
		this.#limitMs = options.limitMs ?? CALL_LIMIT_MS;
	}

	/** The name to print for a server that is not the default one. */
	get label(): string | undefined {
		return this.address.name ?? this.address.path;
	}

	/** Runs one tmux command line and returns its output; throws `TmuxError` with tmux's words when it fails. */
	async run(args: readonly string[], options: CallOptions = {}): Promise<string> {
		const reply = await this.ask(args, options);
		if (reply.code === 0) return reply.stdout;
		throw new TmuxError(this.#explain(args, reply.stderr.trim()));
	}

	/** Runs one tmux command line and returns the exit code with its output; throws only when tmux cannot run. */
	ask(args: readonly string[], options: CallOptions = {}): Promise<TmuxReply> {
		this.calls += 1;
		const address = this.#addressFlags();
		return new Promise((resolve, reject) => {
			// -u: without it a C locale turns every non-ASCII character of the answer into "_".
			const child = spawn("tmux", ["-u", ...address, ...args], { env: this.#env, stdio: ["pipe", "pipe", "pipe"] });
			const stdout: Buffer[] = [];
			const stderr: Buffer[] = [];
			let failure: Error | undefined;
			const stop = (error: Error) => {
				failure ??= error;
				child.kill("SIGKILL");
			};
			const timer = setTimeout(
				() => stop(new TmuxError(`tmux did not answer within ${this.#limitMs} ms (${args[0]})`)),
				this.#limitMs,
			);
			const onAbort = () => stop(abortError(options.signal));
			if (options.signal?.aborted) onAbort();
			options.signal?.addEventListener("abort", onAbort, { once: true });
			child.stdout.on("data", (chunk: Buffer) => stdout.push(chunk));
			child.stderr.on("data", (chunk: Buffer) => stderr.push(chunk));
			child.stdin.on("error", (error) => ignore(error, "tmux did not read everything; its exit code tells"));
			child.on("error", (error: NodeJS.ErrnoException) => {
				failure ??=
					error.code === "ENOENT"
						? new TmuxError("tmux is not installed, or not on PATH. Install tmux 3.2 or newer.", { cause: error })
						: new TmuxError(`tmux could not be started: ${error.message}`, { cause: error });
				settle(1);
			});
			child.on("close", (code) => settle(code ?? 1));
			let settled = false;
			const settle = (code: number) => {
				if (settled) return;
				settled = true;
				clearTimeout(timer);
				options.signal?.removeEventListener("abort", onAbort);
				if (failure) reject(failure);
				else resolve({ code, stdout: text(stdout), stderr: text(stderr) });
			};
			child.stdin.end(options.input ?? "");
		});
	}

	#addressFlags(): string[] {
		if (this.address.name !== undefined) return ["-L", this.address.name];
		if (this.address.path !== undefined) return ["-S", this.address.path];
		return [];
	}

	#explain(args: readonly string[], words: string): string {
		const where = this.label === undefined ? "the default tmux server" : `tmux server ${this.label}`;
		const hint = isUnreachable(words) ? ` Start one, or name another with --server.` : "";
		return `${where}: ${words || `${args[0]} failed`}.${hint}`;
	}
}

/** Whether tmux's words mean that no server listens, as opposed to a refused command. */
export function isUnreachable(words: string): boolean {
	return /no server running|error connecting to|server exited|lost server/.test(words);
}

/**
 * The first call may start the server, which keeps this environment. Without the caller's own pane, and without the
 * mark by which a Python kernel ends all that was started from its cells: a session outlives the cell that launched it.
 */
function forServer(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
	const { TMUX: _socket, TMUX_PANE: _pane, PRIME_AGENT_KERNEL_ID: _mark, ...rest } = env;
	return rest;
}

function text(chunks: Buffer[]): string {
	return Buffer.concat(chunks).toString("utf8");
}

function abortError(signal: AbortSignal | undefined): Error {
	return signal?.reason instanceof Error ? signal.reason : new Error("stopped");
}
