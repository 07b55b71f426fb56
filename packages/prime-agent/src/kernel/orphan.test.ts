import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "vitest";
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

for (const backend of ["builtin", "ipykernel"] as const) {
	const lack = await findLack(backend);
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
				host.kill("SIGKILL");
				for (const pid of pids) await until(`process ${pid} has ended`, async () => !(await isRunning(pid)));
			} finally {
				host.kill("SIGKILL");
				await rm(folder, { recursive: true, force: true, maxRetries: 5 });
			}
		});
	});
}
