import { mkdirSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, statSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";

const graceMs = 5_000;

/**
 * Gives the whole test run a home and a folder for temporary files of its own, and fails it when the real home was
 * touched or a process was left behind.
 */
export default function guard(): () => Promise<void> {
	const homeFolder = join(homedir(), ".prime");
	const before = latestChange(homeFolder);
	const folder = mkdtempSync(join(tmpdir(), "pa-"));
	const home = join(folder, "home");
	mkdirSync(home, { mode: 0o700 });
	process.env.HOME = home;
	process.env.TMPDIR = folder;
	for (const name of ["XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR"]) {
		delete process.env[name];
	}
	return async () => {
		const left = await waitForEnd(folder);
		for (const { pid } of left) endProcess(pid);
		rmSync(folder, { recursive: true, force: true });
		const faults = left.map(({ pid, command }) => `a test left process ${pid} behind: ${command}`);
		if (latestChange(homeFolder) !== before) faults.push(`a test changed the real home: ${homeFolder}`);
		if (faults.length > 0) throw new Error(faults.join("\n"));
	};
}

/** A process of a test run that is no part of the test runner. */
interface Leftover {
	pid: number;
	command: string;
}

/**
 * The processes that work in the folder of a run or have it in their environment. This process and the runner's
 * workers are excepted.
 */
function findLeftovers(folder: string): Leftover[] {
	const pids = listProcesses();
	return pids.flatMap((pid) => {
		if (pid === process.pid) return [];
		try {
			const belongs = readFileSync(`/proc/${pid}/environ`, "utf8").includes(folder) || isInside(pid, folder);
			if (!belongs) return [];
			const command = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trim();
			return command === "" || isWorker(pid, command) ? [] : [{ pid, command }];
		} catch {
			// The process ended meanwhile, or is another user's.
			return [];
		}
	});
}

/** Elsewhere than on Linux there is no list to look through, and nothing is found. */
function listProcesses(): number[] {
	try {
		return readdirSync("/proc").map(Number).filter(Number.isInteger);
	} catch {
		return [];
	}
}

function isInside(pid: number, folder: string): boolean {
	return readlinkSync(`/proc/${pid}/cwd`).startsWith(folder);
}

function isWorker(pid: number, command: string): boolean {
	const parent = /^PPid:\t(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
	return Number(parent) === process.pid && command.includes("vitest");
}

async function waitForEnd(folder: string): Promise<Leftover[]> {
	const deadline = Date.now() + graceMs;
	let left = findLeftovers(folder);
	while (left.length > 0 && Date.now() < deadline) {
		await wait(50);
		left = findLeftovers(folder);
	}
	return left;
}

function endProcess(pid: number): void {
	try {
		process.kill(pid, "SIGKILL");
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
	}
}

/** When something in a folder last changed, 0 for a folder that is not there. */
function latestChange(folder: string): number {
	try {
		const inside = readdirSync(folder, { recursive: true, encoding: "utf8" });
		return Math.max(statSync(folder).ctimeMs, ...inside.map((path) => statSync(join(folder, path)).ctimeMs));
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === "ENOENT") return 0;
		throw error;
	}
}
