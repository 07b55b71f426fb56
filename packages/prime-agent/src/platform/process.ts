import { ignore } from "../lib/ignore.ts";

/** Signals a process group; false when nothing of it is left or it belongs to somebody else. */
export function signalGroup(pid: number, signal: NodeJS.Signals): boolean {
	// pid 0 and 1 would mean this process's own group and everything
	if (!Number.isInteger(pid) || pid < 2) return false;
	try {
		process.kill(-pid, signal);
		return true;
	} catch (error) {
		ignore(error, "the process group has ended already");
		return false;
	}
}
