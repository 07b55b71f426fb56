import { type ChildProcess, spawn } from "node:child_process";
import { statSync } from "node:fs";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import { ignore } from "../../lib/ignore.ts";
import { errorText } from "../../lib/text.ts";
import { signalGroup } from "../../platform/process.ts";
import type { KernelInfo } from "../../session/ports.ts";
import { complaintOf } from "../complaint.ts";
import type { Candidate } from "../interpreters.ts";
import { JsonLines } from "../lines.ts";
import type { KernelLink, LinkOptions } from "../link.ts";
import { BuiltinLink, type BuiltinProcess } from "./link.ts";
import { type Line, type Message, PROTOCOL, text } from "./messages.ts";
import { WireLine } from "./wire.ts";

/** A kernel that runs, or what the interpreter lacked. */
export type Launched = { readonly link: KernelLink } | { readonly lacked: string };

/** Bounds of output, for tests; bytes a stream. */
export interface OutputLimits {
	readonly keep?: number | undefined;
	readonly spill?: number | undefined;
}

/** Where the Python package lies and how the kernel is set up. */
export interface BuiltinOptions extends LinkOptions {
	readonly runtimeDir: string;
	/** Where the skills of the program lie. */
	readonly skillsDir?: string | undefined;
	readonly limits?: OutputLimits | undefined;
	/** `prefer`: ipykernel where the interpreter has it; without one the built-in kernel. */
	readonly backend?: "ipykernel" | "prefer" | undefined;
	/** How long an interpreter may take to greet. */
	readonly startMs?: number;
}

/** The exit code by which the runtime says that this interpreter will not do; see its `__main__.py`. */
const UNUSABLE = 64;
const START_MS = 30_000;
const HANG_UP_MS = 4000;
const COMPLAINT_CHARS = 8192;

/** Verdicts on interpreters that did not do, by path and modification time. */
const verdicts = new Map<string, string>();

/** Starts a kernel with this interpreter. Starting it is also the probe: an unfit one says so and ends. */
export async function launchBuiltin(candidate: Candidate, options: BuiltinOptions): Promise<Launched> {
	const key = verdictKey(candidate);
	const known = verdicts.get(key);
	if (known !== undefined) return { lacked: known };
	const launched = await start(candidate, options);
	// an ipykernel may be installed while this program runs
	const isLasting = "lacked" in launched && launched.permanent && options.backend !== "ipykernel";
	if (isLasting && !options.signal.aborted) verdicts.set(key, launched.lacked);
	return launched;
}

function verdictKey({ python, kind }: Candidate): string {
	const changed = statSync(python, { throwIfNoEntry: false })?.mtimeMs ?? 0;
	return `${kind}\0${python}\0${changed}`;
}

type Started = { readonly link: KernelLink } | { readonly lacked: string; readonly permanent: boolean };

async function start(candidate: Candidate, options: BuiltinOptions): Promise<Started> {
	const child = spawnKernel(candidate, options);
	const { promise, resolve } = Promise.withResolvers<Started>();
	const wire = child.stdio[3] as Duplex | undefined;
	const report = child.stdio[4] as Duplex | undefined;
	const over = new AbortController();
	let complaint = "";
	child.stderr?.setEncoding("utf8").on("data", (text: string) => {
		complaint = (complaint + text).slice(-COMPLAINT_CHARS);
	});
	const { promise: gone, resolve: leave } = Promise.withResolvers<void>();
	child.once("exit", () => leave());
	child.once("error", () => leave());
	const fail = async (lacked: string, permanent: boolean) => {
		// hanging up ends the guardian and its kernel; whatever else this started is killed
		over.abort(new Error(lacked));
		wire?.destroy();
		report?.destroy();
		const timer = setTimeout(() => signalGroup(child.pid ?? 0, "SIGKILL"), HANG_UP_MS);
		await gone;
		clearTimeout(timer);
		resolve({ lacked, permanent });
	};
	const greet = (message: Message) => {
		if (message.op !== "hello" || message.protocol !== PROTOCOL) {
			void fail("its runtime speaks another protocol than this program", false);
			return;
		}
		const info: KernelInfo = {
			backend: message.backend === "ipykernel" ? "ipykernel" : "builtin",
			python: String(message.python),
			version: String(message.version),
			pid: Number(message.pid),
		};
		if (!wire || !report) return;
		wire.off("data", read);
		const begin = (line: Line) => {
			const { mark } = message;
			const saidLast = () => text(complaint).trim();
			const running: BuiltinProcess = { guardian: child, line, report, mark: text(mark), complaint: saidLast };
			resolve({ link: new BuiltinLink(running, info, options) });
		};
		if (info.backend === "builtin") begin(new WireLine(wire));
		else connect(message, over.signal).then(begin, (error) => fail(errorText(error), false));
	};
	const lines = new JsonLines(greet, (reason) => fail(`its kernel sent ${reason}`, false));
	const read = (data: Buffer) => lines.push(data);
	wire?.on("data", read);
	wire?.on("error", (error) => ignore(error, "the exit of the process says why"));
	report?.on("error", (error) => ignore(error, "the exit of the process says why"));
	child.once("error", (error) => fail(`cannot be started: ${errorText(error)}`, false));
	child.once("close", (code) => {
		const said = text(complaint).trim() || `it ended with exit code ${code} before it was ready`;
		void fail(code === UNUSABLE ? said : complaintOf(said), code === UNUSABLE);
	});
	const timer = setTimeout(() => fail("it did not answer in time", false), options.startMs ?? START_MS);
	const onAbort = () => fail("the start was called off", false);
	options.signal.addEventListener("abort", onAbort, { once: true });
	if (options.signal.aborted) onAbort();
	try {
		return await promise;
	} finally {
		clearTimeout(timer);
		options.signal.removeEventListener("abort", onAbort);
	}
}

async function connect(hello: Message, signal: AbortSignal): Promise<Line> {
	// loaded late: few kernels need it
	const { connectKernel, readConnection } = await import("../ipykernel/line.ts");
	const connection = readConnection(hello.connection);
	if (!connection) throw new Error("its kernel did not say how it is reached");
	return await connectKernel(connection, signal);
}

function spawnKernel(candidate: Candidate, options: BuiltinOptions): ChildProcess {
	const { limits } = options;
	const words = ["-X", "utf8", "-I", join(options.runtimeDir, "rlm", "__main__.py")];
	if (candidate.kind === "installed") words.push("--no-venv");
	if (options.skillsDir) words.push(`--skills=${options.skillsDir}`);
	if (options.backend) words.push(`--backend=${options.backend}`);
	if (limits?.keep !== undefined) words.push(`--limit=${limits.keep}`);
	if (limits?.spill !== undefined) words.push(`--spill=${limits.spill}`);
	return spawn(candidate.python, words, {
		cwd: options.cwd,
		env: options.env,
		// a session of its own: no terminal, and no Ctrl-C meant for somebody else
		detached: true,
		stdio: ["ignore", "ignore", "pipe", "pipe", "pipe"],
	});
}
