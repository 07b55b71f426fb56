import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { ignore } from "../../lib/ignore.ts";
import type { LeftoverJob } from "../link.ts";

/** Which kernels a process belongs to; see the runtime's `guardian.py`. */
const MARK = "PRIME_AGENT_KERNEL_ID=";
const COMMAND_CHARS = 200;
const SWEEP_MS = 3000;
const AGAIN_MS = 20;

/**
 * Kills what a kernel started when its guardian cannot do it any more, and gives what it found. It finds processes by
 * the mark in their environment, so only where the system shows environments (Linux).
 */
export async function sweepProcesses(guardian: number): Promise<readonly LeftoverJob[]> {
	const found = new Map<number, LeftoverJob>();
	const deadline = performance.now() + SWEEP_MS;
	for (let left = findMarked(guardian); left.length > 0 && performance.now() < deadline; left = findMarked(guardian)) {
		for (const job of left) {
			found.set(job.pid, job);
			killProcess(job.pid);
		}
		await sleep(AGAIN_MS);
	}
	return [...found.values()];
}

function findMarked(guardian: number): LeftoverJob[] {
	if (process.platform !== "linux") return [];
	return readdirSync("/proc").flatMap((name) => (/^\d+$/.test(name) ? readMarked(name, guardian) : []));
}

function readMarked(pid: string, guardian: number): LeftoverJob[] {
	try {
		const variables = readFileSync(`/proc/${pid}/environ`, "latin1").split("\0");
		const marks =
			variables
				.find((variable) => variable.startsWith(MARK))
				?.slice(MARK.length)
				.split(":") ?? [];
		if (!marks.some((mark) => mark.startsWith(`${guardian}-`))) return [];
		const command = readFileSync(`/proc/${pid}/cmdline`, "utf8")
			.replace(/\0+$/, "")
			.replace(/[\0\n]/g, " ");
		return [{ pid: Number(pid), command: command.slice(0, COMMAND_CHARS) }];
	} catch (error) {
		ignore(error, "the process ended meanwhile, or belongs to somebody else");
		return [];
	}
}

function killProcess(pid: number): void {
	try {
		process.kill(pid, "SIGKILL");
	} catch (error) {
		ignore(error, "the process ended meanwhile");
	}
}
