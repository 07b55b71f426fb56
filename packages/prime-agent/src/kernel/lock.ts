import { setTimeout as sleep } from "node:timers/promises";
import { acquireLease, type Lease, LeaseHeldError } from "../platform/lease.ts";

/** Name of the lock beside the environment: `kernel-venv.lock.json`, which tells its owner. */
export const INSTALL_LOCK = "kernel-venv.lock";

const LOOK_MS = 200;

/** Takes the lock of a folder, waiting while a living process has it; says once for whom. Rejects when `signal` aborts. */
export async function takeInstallLock(
	folder: string,
	say: (line: string) => void,
	signal: AbortSignal,
): Promise<{ readonly lease: Lease; readonly hasWaited: boolean }> {
	let hasWaited = false;
	while (true) {
		signal.throwIfAborted();
		try {
			return { lease: acquireLease(folder, INSTALL_LOCK), hasWaited };
		} catch (error) {
			if (!(error instanceof LeaseHeldError)) throw error;
			const { owner } = error;
			if (!hasWaited)
				say(
					`Waiting for process ${owner ? `${owner.pid}, which has been installing since ${owner.since}` : "that installs"}.`,
				);
			hasWaited = true;
		}
		await sleep(LOOK_MS, undefined, { signal }).catch(() => signal.throwIfAborted());
	}
}
