import { readdirSync, readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ignore } from "../../lib/ignore.ts";
import type { LeftoverJob } from "../link.ts";
import { text } from "./messages.ts";

/** Which kernels a process belongs to; see the runtime's `guardian.py`. */
const MARK = "PRIME_AGENT_KERNEL_ID=";
const FORM = /^\d+-[0-9a-f]{16}$/;
const COMMAND_CHARS = 200;
const SWEEP_MS = 3000;
const AGAIN_MS = 20;

/**
 * Ends what a kernel left when its guardian cannot do it any more: kills what it started, gives what it found, and
 * removes its folder in `tmp`. It finds processes by the mark in their environment, so only where the system shows
 * environments (Linux).
 */
export async function sweep(mark: string, tmp: string): Promise<readonly LeftoverJob[]> {
	if (!FORM.test(mark)) return [];
	const found = new Map<number, LeftoverJob>();
	const deadline = performance.now() + SWEEP_MS;
	for (let left = findMarked(mark); left.length > 0 && performance.now() < deadline; left = findMarked(mark)) {
		for (const job of left) {
			found.set(job.pid, job);
			killProcess(job.pid);
		}
		await sleep(AGAIN_MS);
	}
	await rm(join(tmp, `prime-agent-kernel-${mark}`), { recursive: true, force: true }).catch((error) =>
		ignore(error, "the system clears its folder for temporary files"),
	);
	return [...found.values()];
}

function findMarked(mark: string): LeftoverJob[] {
	if (process.platform !== "linux") return [];
	return readdirSync("/proc").flatMap((name) => (/^\d+$/.test(name) ? readMarked(name, mark) : []));
}

function readMarked(pid: string, mark: string): LeftoverJob[] {
	try {
		const variables = readFileSync(`/proc/${pid}/environ`, "latin1").split("\0");
		const marks =
			variables
				.find((variable) => variable.startsWith(MARK))
				?.slice(MARK.length)
				.split(":") ?? [];
		if (!marks.includes(mark)) return [];
		const command = readFileSync(`/proc/${pid}/cmdline`, "utf8")
			.replace(/\0+$/, "")
			.replace(/[\0\n]/g, " ");
		return [{ pid: Number(pid), command: text(command).slice(0, COMMAND_CHARS) }];
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
