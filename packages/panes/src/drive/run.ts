import { spawn } from "node:child_process";
import { constants } from "node:os";

/** Runs a shell line in this terminal and returns its exit code; a signal counts as 128 plus its number. */
export function runShell(command: string, env: NodeJS.ProcessEnv): Promise<number> {
	return new Promise((resolve, reject) => {
		const child = spawn("sh", ["-c", command], { stdio: "inherit", env });
		// The terminal sends its interrupts to the child as well, which decides what they mean.
		const leave = () => undefined;
		process.on("SIGINT", leave);
		child.on("error", reject);
		child.on("close", (code, signal) => {
			process.removeListener("SIGINT", leave);
			resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal]));
		});
	});
}
