import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { findLack, isRunning, until } from "./testing/bench.ts";
import { HOST_PROGRAM } from "./testing/host.ts";

/** A name, the cell that runs or has run when the owner is killed, and the files in which it writes process numbers. */
const CELLS: readonly [name: string, code: string, jobs?: readonly string[]][] = [
	["an idle kernel", "print('ready')"],
	["a kernel in Python code", "print('ready')\nwhile True: pass"],
	["a kernel in an await", "import asyncio\nprint('ready')\nawait asyncio.sleep(600)"],
	["a kernel stuck in C code", "import time\nprint('ready')\ntime.sleep(0.2)\nsum(range(10**15))"],
	["a running script", "%%bash\necho $$ > job1\nsleep 600 & echo $! > job2\necho ready\nsleep 600", ["job1", "job2"]],
	[
		"background jobs",
		"%%bash\nsleep 600 & echo $! > job1\nsetsid sleep 600 & echo $! > job2\necho ready",
		["job1", "job2"],
	],
	[
		"a job that ignores TERM",
		"%%bash\nsh -c 'trap \"\" TERM; echo $$ > job1; while :; do sleep 0.05; done' &\nwhile [ ! -s job1 ]; do sleep 0.01; done; echo ready",
		["job1"],
	],
];

/** The fork server of a folder, and the guardian and kernel that it forked. */
function forksIn(folder: string): readonly number[] {
	const forks = readdirSync("/proc").filter(
		(pid) => /^\d+$/.test(pid) && commandOf(pid).includes(`--forks=${folder}/prime-agent-forks-`),
	);
	expect(forks).toHaveLength(3);
	return forks.map(Number);
}

function commandOf(pid: string): string {
	try {
		return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").at(-2) ?? "";
	} catch {
		// it has ended meanwhile
		return "";
	}
}

for (const backend of ["builtin", "ipykernel", "forked"] as const) {
	const lack = await findLack(backend === "forked" ? "ipykernel" : backend);
	const left = lack ? " (left out: no Python has ipykernel)" : "";
	describe.skipIf(lack).concurrent(`${backend} kernel, its owner killed${left}`, () => {
		it.each(CELLS)("leaves nothing behind: %s", async (_name, code, jobs = []) => {
			const folder = await mkdtemp(join(tmpdir(), "kernel-orphan-"));
			const host = spawn(process.execPath, [HOST_PROGRAM, backend, folder, code], {
				stdio: ["ignore", "pipe", "inherit"],
			});
			try {
				let said = "";
				host.stdout.on("data", (data: Buffer) => {
					said += String(data);
				});
				await until("the cell runs", () => said.includes("ready"));
				const pids = [Number(/kernel (\d+)/.exec(said)?.[1])];
				for (const name of jobs) {
					const read = () => readFile(join(folder, name), "utf8").catch(() => "");
					await until(`${name} is known`, async () => /^\d+\n$/.test(await read()));
					pids.push(Number(await read()));
				}
				if (backend === "forked") pids.push(...forksIn(folder));
				host.kill("SIGKILL");
				for (const pid of pids) await until(`process ${pid} has ended`, async () => !(await isRunning(pid)));
				await until("no folder is left", () => readdirSync(folder).every((name) => !name.startsWith("prime-agent-")));
			} finally {
				host.kill("SIGKILL");
				await rm(folder, { recursive: true, force: true, maxRetries: 5 });
			}
		});
	});
}
