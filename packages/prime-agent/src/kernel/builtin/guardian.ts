import { spawn } from "node:child_process";
import { type Duplex, PassThrough, type Readable } from "node:stream";
import { signalGroup } from "../../platform/process.ts";

/** The guardian of one kernel, seen from here: its lines and its end, however it was started. */
export interface Guardian {
	/** The kernel's own line. */
	readonly wire: Duplex;
	/** What the guardian says about the kernel; its end is the end of the guardian. */
	readonly report: Duplex;
	/** The stderr of the guardian and of its kernel. */
	readonly stderr: Readable;
	/** Resolves when the guardian has ended, or could not be started. */
	readonly exited: Promise<void>;
	/** Resolves when it has ended and nobody holds its lines any more. */
	readonly closed: Promise<GuardianEnd>;
	/** Signals it, or with `group` its process group; nothing once it has ended. */
	signal(name: NodeJS.Signals, group?: "group"): void;
}

/** How a guardian ended; `code` where it is known, `error` when it could not be started. */
export interface GuardianEnd {
	readonly code?: number | undefined;
	readonly error?: Error;
}

/** How a guardian is started as a process of its own. */
export interface GuardianProgram {
	readonly python: string;
	readonly words: readonly string[];
	readonly cwd: string;
	readonly env: Readonly<Record<string, string>>;
}

/** How long a guardian may take to end with its kernel once nobody listens to it. */
const HANG_UP_MS = 4000;

/** Starts a guardian, which starts its kernel. */
export function spawnGuardian({ python, words, cwd, env }: GuardianProgram): Guardian {
	const child = spawn(python, words, {
		cwd,
		env,
		// a session of its own: no terminal, and no Ctrl-C meant for somebody else
		detached: true,
		stdio: ["ignore", "ignore", "pipe", "pipe", "pipe"],
	});
	const exited = new Promise<void>((resolve) => {
		child.once("exit", () => resolve());
		child.once("error", () => resolve());
	});
	const closed = new Promise<GuardianEnd>((resolve) => {
		child.once("error", (error) => resolve({ error }));
		child.once("close", (code) => resolve({ code: code ?? undefined }));
	});
	// without descriptors there is a child without lines, and its error comes later
	const line = (fd: number) => (child.stdio?.[fd] ?? new PassThrough()) as Duplex;
	return {
		wire: line(3),
		report: line(4),
		stderr: line(2),
		exited,
		closed,
		signal(name, group) {
			if (group) signalGroup(child.pid ?? 0, name);
			else child.kill(name);
		},
	};
}

/** Closes the lines of a guardian, which ends it and its kernel; a program that goes on is killed. Resolves when it has ended. */
export async function hangUp(guardian: Guardian): Promise<void> {
	for (const line of [guardian.wire, guardian.report, guardian.stderr]) line.destroy();
	const timer = setTimeout(() => guardian.signal("SIGKILL", "group"), HANG_UP_MS);
	await guardian.exited;
	clearTimeout(timer);
}
