import { readFileSync } from "node:fs";

/** Tells one process from every other, also after its number was given to another one. */
export interface ProcessIdentity {
	readonly pid: number;
	/** Start time in clock ticks since boot, from `/proc/<pid>/stat`; null where there is no `/proc`. */
	readonly startTicks: number | null;
	/** Changes with each boot; null where there is no `/proc`. */
	readonly bootId: string | null;
}

/** The identity of a running process. */
export function identifyProcess(pid: number): ProcessIdentity {
	return { pid, startTicks: readStartTicks(pid), bootId: readBootId() };
}

/** Whether exactly this process still runs. Where identities cannot be read, the number alone decides. */
export function isAlive(identity: ProcessIdentity): boolean {
	if (identity.bootId !== null && identity.bootId !== readBootId()) return false;
	try {
		process.kill(identity.pid, 0);
	} catch (error) {
		// No such process; a process of somebody else (EPERM) lives.
		if ((error as NodeJS.ErrnoException).code === "ESRCH") return false;
	}
	return identity.startTicks === null || identity.startTicks === readStartTicks(identity.pid);
}

function readStartTicks(pid: number): number | null {
	const stat = readProc(`/proc/${pid}/stat`);
	if (stat === undefined) return null;
	// The name in parentheses may hold anything, so fields are counted after its end (proc(5): starttime is field 22).
	const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
	const [state, ticks] = [fields[0], Number(fields[19])];
	// A zombie has ended and only waits to be collected.
	return state === "Z" || !Number.isFinite(ticks) ? null : ticks;
}

function readBootId(): string | null {
	return readProc("/proc/sys/kernel/random/boot_id")?.trim() ?? null;
}

function readProc(path: string): string | undefined {
	try {
		return readFileSync(path, "utf8");
	} catch {
		// No such process, or a system without /proc.
		return undefined;
	}
}
