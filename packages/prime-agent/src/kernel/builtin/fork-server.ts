import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import { ignore } from "../../lib/ignore.ts";
import { JsonLines } from "../lines.ts";
import { within } from "../within.ts";
import { ForkedGuardian } from "./forked.ts";
import type { Guardian, GuardianProgram } from "./guardian.ts";
import type { Message } from "./messages.ts";

/** What a forked guardian is to become. */
export interface ForkRequest {
	readonly cwd: string;
	readonly env: Readonly<Record<string, string>>;
	/** Arguments after those of the program. */
	readonly words: readonly string[];
	readonly signal: AbortSignal;
}

/** In the order in which a forked guardian connects; see the runtime's `fork_server.py`. */
const LINES = ["stderr", "wire", "report"] as const;
/** Characters that a connection begins with. */
const KEY_CHARS = 32;
/** How long a guardian may take to connect; the first one waits until what a kernel needs has been loaded. */
const FORK_MS = 5000;
const LOAD_MS = 20_000;
/** Three for each kernel; more are somebody else's. */
const MAX_CONNECTIONS = 600;
const HANG_UP_MS = 4000;
const END_MS = 1000;

interface Expected {
	readonly lines: Map<string, Socket>;
	readonly keys: readonly string[];
	readonly settle: (guardian: ForkedGuardian | undefined) => void;
	pid?: number;
}

/** A process that has loaded what kernels need and forks them; see the runtime's `fork_server.py`. */
export class ForkServer {
	readonly #child: ChildProcess;
	readonly #control: Duplex;
	readonly #listener: Server;
	readonly #folder: string;
	readonly #path: string;
	readonly #ended: Promise<void>;
	#hasEnded = false;
	#forks = 0;
	#hasForked = false;
	readonly #expected = new Map<number, Expected>();
	readonly #guardians = new Map<number, ForkedGuardian>();

	private constructor(child: ChildProcess, folder: string, path: string, listener: Server) {
		this.#child = child;
		this.#folder = folder;
		this.#path = path;
		this.#listener = listener;
		this.#control = child.stdio[3] as Duplex;
		const { promise, resolve } = Promise.withResolvers<void>();
		this.#ended = promise;
		const end = () => {
			this.#end();
			resolve();
		};
		child.once("exit", end);
		child.once("error", end);
		const lines = new JsonLines(
			(message) => this.#receive(message),
			() => this.#child.kill("SIGKILL"),
		);
		this.#control.on("data", (data: Buffer) => lines.push(data));
		this.#control.on("error", (error) => ignore(error, "the end of the process says enough"));
		listener.maxConnections = MAX_CONNECTIONS;
		listener.on("connection", (socket) => this.#admit(socket));
		listener.on("error", (error) => {
			ignore(error, "kernels are started one by one");
			this.#child.kill("SIGKILL");
		});
	}

	/** Starts one, or undefined where that is not possible. It loads while requests already wait. */
	static start({ python, words, env }: Omit<GuardianProgram, "cwd">): ForkServer | undefined {
		const folder = makeFolder(env.TMPDIR || "/tmp");
		if (!folder) return undefined;
		const path = join(folder, "s");
		const child = spawn(python, [...words, "--backend=ipykernel", `--forks=${folder}`], {
			cwd: "/",
			env,
			detached: true,
			stdio: ["ignore", "ignore", "ignore", "pipe"],
		});
		if (!child.stdio) {
			child.once("error", (error) => ignore(error, "kernels are started one by one"));
			rmSync(folder, { recursive: true, force: true });
			return undefined;
		}
		return new ForkServer(child, folder, path, createServer().listen(path));
	}

	/** A guardian whose kernel is starting, also when the signal aborts meanwhile; undefined when there will be none. */
	async fork({ cwd, env, words, signal }: ForkRequest): Promise<Guardian | undefined> {
		if (this.#hasEnded || signal.aborted) return undefined;
		this.#forks += 1;
		const id = this.#forks;
		const keys = LINES.map(() => randomBytes(KEY_CHARS / 2).toString("hex"));
		const { promise, resolve } = Promise.withResolvers<ForkedGuardian | undefined>();
		const expected: Expected = { lines: new Map(), keys, settle: resolve };
		this.#expected.set(id, expected);
		// one that is on its way is waited for, so that it can be ended
		let timer: NodeJS.Timeout | undefined;
		const onAbort = () => {
			timer = setTimeout(() => resolve(undefined), HANG_UP_MS);
		};
		signal.addEventListener("abort", onAbort, { once: true });
		this.#control.write(`${JSON.stringify({ id, path: this.#path, keys, cwd, env, args: words })}\n`);
		const guardian = await within(promise, this.#hasForked ? FORK_MS : LOAD_MS, undefined);
		this.#hasForked ||= guardian !== undefined;
		clearTimeout(timer);
		signal.removeEventListener("abort", onAbort);
		this.#expected.delete(id);
		// one that connects from now on finds its lines closed and ends
		if (!guardian) for (const line of expected.lines.values()) line.destroy();
		return guardian;
	}

	/** Ends it; kernels that it has forked live on. */
	async close(): Promise<void> {
		this.#control.destroy();
		if (!(await this.#endsWithin())) {
			this.#child.kill("SIGKILL");
			await this.#endsWithin();
		}
	}

	#endsWithin(): Promise<boolean> {
		return within(
			this.#ended.then(() => true),
			END_MS,
			false,
		);
	}

	#end(): void {
		this.#hasEnded = true;
		this.#listener.close();
		rmSync(this.#folder, { recursive: true, force: true });
		for (const { settle } of this.#expected.values()) settle(undefined);
		for (const guardian of this.#guardians.values()) guardian.watch();
		this.#guardians.clear();
	}

	#receive({ op, id, pid }: Message): void {
		if (op === "ended") {
			this.#guardians.get(Number(pid))?.end();
			this.#guardians.delete(Number(pid));
			for (const expected of this.#expected.values()) if (expected.pid === pid) expected.settle(undefined);
			return;
		}
		const expected = this.#expected.get(Number(id));
		if (!expected) return;
		if (op === "forked") {
			expected.pid = Number(pid);
			this.#complete(expected);
		} else expected.settle(undefined);
	}

	/** A connection says by its key what it is for; one without a key that is waited for is none of ours. */
	#admit(socket: Socket): void {
		socket.on("error", (error) => ignore(error, "the end of the guardian says enough"));
		socket.setTimeout(FORK_MS, () => socket.destroy());
		const read = () => {
			const key: Buffer | null = socket.read(KEY_CHARS);
			if (!key) return;
			// what follows is left to its reader
			socket.off("readable", read);
			socket.setTimeout(0);
			for (const expected of this.#expected.values()) {
				const line = LINES[expected.keys.indexOf(key.toString("latin1"))];
				if (!line) continue;
				expected.lines.set(line, socket);
				this.#complete(expected);
				return;
			}
			socket.destroy();
		};
		socket.on("readable", read);
	}

	#complete({ lines, pid, settle }: Expected): void {
		const [stderr, wire, report] = LINES.map((name) => lines.get(name));
		if (!stderr || !wire || !report || pid === undefined) return;
		const guardian = new ForkedGuardian(pid, { stderr, wire, report });
		this.#guardians.set(pid, guardian);
		settle(guardian);
	}
}

function makeFolder(tmp: string): string | undefined {
	try {
		return mkdtempSync(join(tmp, "prime-agent-forks-"));
	} catch (error) {
		ignore(error, "kernels are started one by one");
		return undefined;
	}
}
