import { spawn } from "node:child_process";
import { ignore } from "../ignore.ts";

/**
 * Runs one tmux command without waiting for it and without ever failing: for state reports that must not disturb the
 * program that makes them. The child has a 5 s limit and does not keep the program alive.
 */
export function runInBackground(socket: string | undefined, args: readonly string[]): void {
	const address = socket ? ["-S", socket] : [];
	const child = spawn("tmux", ["-u", ...address, ...args], { stdio: "ignore", timeout: 5000, killSignal: "SIGKILL" });
	child.on("error", (error) => ignore(error, "without tmux there is nobody to report to"));
	child.unref();
}
