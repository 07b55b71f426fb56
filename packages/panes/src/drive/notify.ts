import { spawn } from "node:child_process";

/** Runs a user's notification command with a report as its first argument; a failure of it is nobody's business. */
export function notify(command: string, report: string): Promise<void> {
	return new Promise((resolve) => {
		const child = spawn("sh", ["-c", `${command} "$1"`, "sh", report], { stdio: "ignore", timeout: 10_000 });
		child.on("error", () => resolve());
		child.on("close", () => resolve());
	});
}
