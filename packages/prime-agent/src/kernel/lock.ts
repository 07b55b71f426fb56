import { type Lease, waitForLease } from "../platform/lease.ts";

/** Name of the lock beside the environment: `kernel-venv.lock.json`, which tells its owner. */
export const INSTALL_LOCK = "kernel-venv.lock";

/** Takes the lock of a folder, waiting while a living process has it; says once for whom. Rejects when `signal` aborts. */
export function takeInstallLock(folder: string, say: (line: string) => void, signal: AbortSignal): Promise<Lease> {
	return waitForLease(folder, INSTALL_LOCK, {
		signal,
		onWait: (owner) =>
			say(
				`Waiting for process ${owner ? `${owner.pid}, which has been installing since ${owner.since}` : "that installs"}.`,
			),
	});
}
