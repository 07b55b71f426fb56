import { spawn } from "node:child_process";
import type { Environment } from "./paths.ts";

/** How long a command that prints a secret may take, in milliseconds; it may have to ask a person. */
const COMMAND_LIMIT_MS = 120_000;

/**
 * What a configured value stands for: the variable of that name where it is set, the output of `!command` without its
 * last newline, otherwise the text itself.
 * @throws {Error} when the command fails; the message has the command's name and exit code, never its output.
 */
export async function resolveConfigValue(
	value: string,
	env: Environment,
	signal?: AbortSignal,
	limitMs = COMMAND_LIMIT_MS,
): Promise<string> {
	if (!value.startsWith("!")) return env[value] || value;
	const output = (await captureOutput(value.slice(1), env, limitMs, signal)).replace(/\r?\n$/, "");
	if (output === "") throw new Error(`The command "${commandName(value)}" printed no value.`);
	return output;
}

function commandName(value: string): string {
	return value.slice(1).trim().split(/\s+/, 1)[0] ?? "";
}

function captureOutput(command: string, env: Environment, limitMs: number, signal?: AbortSignal): Promise<string> {
	const limit = AbortSignal.timeout(limitMs);
	const child = spawn("/bin/sh", ["-c", command], {
		env: { ...env },
		stdio: ["ignore", "pipe", "ignore"],
		signal: signal ? AbortSignal.any([signal, limit]) : limit,
		killSignal: "SIGKILL",
	});
	return new Promise((fulfil, reject) => {
		const chunks: Buffer[] = [];
		child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
		child.on("error", (cause) => {
			const why = limit.aborted ? `did not end within ${limitMs / 1000} s` : "could not be run";
			reject(new Error(`The command "${commandName(`!${command}`)}" ${why}.`, { cause }));
		});
		child.on("close", (code) => {
			if (code === 0) fulfil(Buffer.concat(chunks).toString("utf8"));
			else reject(new Error(`The command "${commandName(`!${command}`)}" failed with exit code ${code ?? "none"}.`));
		});
	});
}
