import { spawn } from "node:child_process";
import { errorText } from "../lib/text.ts";
import { signalGroup } from "../platform/process.ts";

/** How a program that ran to its end came out. */
export interface Ended {
	/** 0 is success; -1 when it could not be started or a signal ended it. */
	readonly code: number;
	readonly stdout: string;
	/** The newest part of what it wrote to either stream. */
	readonly said: string;
}

/** What a program runs with. */
export interface ChildOptions {
	readonly env: Readonly<Record<string, string | undefined>>;
	readonly cwd: string;
	/** Ends the program and everything in its process group; `runChild` then rejects with the reason. */
	readonly signal: AbortSignal;
	/** Each line of either stream as it comes. */
	readonly onLine?: (line: string) => void;
}

const KEPT_CHARS = 16_384;
const TERM_GRACE_MS = 3000;

/** Runs a program without input, terminal or shell. Resolves when it has ended, however; rejects only when called off. */
export async function runChild(words: readonly string[], options: ChildOptions): Promise<Ended> {
	options.signal.throwIfAborted();
	const child = spawn(words[0] ?? "", words.slice(1), {
		cwd: options.cwd,
		env: options.env,
		detached: true,
		stdio: ["ignore", "pipe", "pipe"],
	});
	let stdout = "";
	let said = "";
	let rest = "";
	const take = (text: string) => {
		said = (said + text).slice(-KEPT_CHARS);
		const lines = (rest + text).split(/[\r\n]+/);
		rest = (lines.pop() ?? "").slice(-KEPT_CHARS);
		for (const line of lines) options.onLine?.(line);
	};
	child.stdout.setEncoding("utf8").on("data", (text: string) => {
		stdout = (stdout + text).slice(-KEPT_CHARS);
		take(text);
	});
	child.stderr.setEncoding("utf8").on("data", take);
	let timer: NodeJS.Timeout | undefined;
	const stop = () => {
		signalGroup(child.pid ?? 0, "SIGTERM");
		timer = setTimeout(() => signalGroup(child.pid ?? 0, "SIGKILL"), TERM_GRACE_MS);
	};
	options.signal.addEventListener("abort", stop, { once: true });
	try {
		const code = await new Promise<number>((resolve) => {
			child.once("error", (error) => {
				said = `cannot be started: ${errorText(error)}`;
				resolve(-1);
			});
			child.once("close", (exit) => resolve(exit ?? -1));
		});
		options.signal.throwIfAborted();
		return { code, stdout, said: said.trim() };
	} finally {
		clearTimeout(timer);
		options.signal.removeEventListener("abort", stop);
	}
}
