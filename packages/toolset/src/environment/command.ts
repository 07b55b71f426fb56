import { type ChildProcessByStdio, spawn } from "node:child_process";
import type { Readable } from "node:stream";
import { HeadTail } from "./capture.ts";
import { TextStream } from "./decoder.ts";
import { type CommandRequest, type CommandResult, EnvironmentError } from "./environment.ts";
import type { ProcessGroups } from "./groups.ts";

/** What a command runs in. */
export interface CommandSetting {
	workingDirectory: string;
	variables: Record<string, string>;
	groups: ProcessGroups;
	/** Bytes kept of each end of each output stream. */
	keepBytes: number;
}

/** How long output is awaited after the command itself has ended; a background child may hold the pipe for ever. */
const drainMs = 250;

type Child = ChildProcessByStdio<null, Readable, Readable>;

function startShell(command: string, setting: CommandSetting): Child {
	const [file, args] = process.platform === "win32" ? ["cmd.exe", ["/c", command]] : ["/bin/bash", ["-c", command]];
	return spawn(file as string, args as string[], {
		cwd: setting.workingDirectory,
		env: setting.variables,
		detached: true,
		stdio: ["ignore", "pipe", "pipe"],
	});
}

function captureStream(
	stream: Readable,
	keepBytes: number,
	onText: ((text: string) => void) | undefined,
): { text(): string; ended: Promise<void>; detach(): void } {
	const kept = new HeadTail(keepBytes);
	const decoder = new TextStream();
	const take = (chunk: Buffer) => {
		kept.push(chunk);
		const text = onText ? decoder.push(chunk) : "";
		if (text !== "") onText?.(text);
	};
	stream.on("data", take);
	return {
		text: () => kept.text(),
		ended: new Promise((resolve) => stream.once("close", resolve)),
		detach() {
			stream.off("data", take);
			const rest = onText ? decoder.end() : "";
			if (rest !== "") onText?.(rest);
			// A background child goes on writing: reading and dropping keeps it from stopping at a full or broken pipe.
			stream.resume();
			(stream as Readable & { unref?: () => void }).unref?.();
		},
	};
}

function waitAtMost(done: Promise<unknown>, ms: number): Promise<void> {
	return new Promise((resolve) => {
		const timer = setTimeout(() => setImmediate(() => setImmediate(resolve)), ms);
		void done.then(() => {
			clearTimeout(timer);
			resolve();
		});
	});
}

/**
 * Runs one shell command in its own process group without input. Settles when the command itself has ended, not when
 * its background children have. On timeout or abort the group gets TERM, then KILL; output until then is kept.
 */
export async function runCommand(request: CommandRequest, setting: CommandSetting): Promise<CommandResult> {
	const started = performance.now();
	const { signal, onOutput } = request;
	const child = startShell(request.command, setting);
	const id = child.pid;
	const exit = new Promise<{ exitCode: number | null; signal: string | null }>((resolve, reject) => {
		child.once("error", (error) => {
			const message = `The shell could not be started in ${setting.workingDirectory}: ${error.message}`;
			reject(new EnvironmentError("failed", message, error));
		});
		child.once("exit", (exitCode, exitSignal) => resolve({ exitCode, signal: exitSignal }));
	});
	if (id === undefined) {
		await exit;
		throw new EnvironmentError("failed", `The shell could not be started in ${setting.workingDirectory}.`);
	}
	setting.groups.add(id);

	const stdout = captureStream(child.stdout, setting.keepBytes, onOutput && ((text) => onOutput(text, "stdout")));
	const stderr = captureStream(child.stderr, setting.keepBytes, onOutput && ((text) => onOutput(text, "stderr")));
	let timedOut = false;
	let aborted = false;
	let ending: Promise<void> | undefined;
	const end = () => {
		ending ??= setting.groups.end(id);
	};
	const timer = setTimeout(() => {
		timedOut = !aborted;
		end();
	}, request.timeoutMs);
	const onAbort = () => {
		aborted = !timedOut;
		end();
	};
	if (signal?.aborted) onAbort();
	signal?.addEventListener("abort", onAbort, { once: true });
	try {
		const outcome = await exit;
		clearTimeout(timer);
		if (ending) await ending;
		await waitAtMost(Promise.all([stdout.ended, stderr.ended]), drainMs);
		stdout.detach();
		stderr.detach();
		return {
			stdout: stdout.text(),
			stderr: stderr.text(),
			...outcome,
			timedOut,
			aborted,
			durationMs: Math.round(performance.now() - started),
		};
	} finally {
		clearTimeout(timer);
		signal?.removeEventListener("abort", onAbort);
		setting.groups.prune();
	}
}
