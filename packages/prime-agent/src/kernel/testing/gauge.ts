import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createKernel } from "../index.ts";
import { runAgentLoop } from "./agent-loop.ts";
import { runBareLoop } from "./bare-loop.ts";

// node gauge.ts <what> <backend> [url]: measures one thing of a kernel without a session, for `bench`. Prints one
// object: `wallMs`, `cpuMs`, `mb` as far as they apply, and the interpreter.

const [what = "", backend = "", url = ""] = process.argv.slice(2);
const FLOOD = "%%bash\nyes $(printf %098d 0) | head -c 50000000";
const FLOOD_BYTES = 50_000_000;

const folder = mkdtempSync(join(tmpdir(), "gauge-"));
const env = { HOME: folder, PATH: process.env.PATH, TMPDIR: folder };
const kernel = createKernel({ cwd: folder, env, settings: { backend: backend as "builtin" | "ipykernel" } });
try {
	const started = performance.now();
	await kernel.execute("None");
	const readyMs = performance.now() - started;
	const measured = await gauge(readyMs);
	process.stdout.write(`${JSON.stringify({ python: kernel.info()?.python, ...measured })}\n`);
} finally {
	await kernel.dispose();
	rmSync(folder, { recursive: true, force: true });
}

async function gauge(readyMs: number): Promise<object> {
	const { pid } = kernel.info() ?? { pid: 0 };
	const began = performance.now();
	switch (what) {
		case "ready":
			return { wallMs: readyMs, cpuMs: cpuOf(pid) + cpuOf(parentOf(pid)) };
		case "memory":
			return { mb: memoryOf(pid) + memoryOf(parentOf(pid)) };
		case "flood": {
			const cell = await kernel.execute(FLOOD);
			const mark = /([\d,]+) bytes left out; the whole output is in (\S+)/.exec(cell.stdout);
			const kept = mark?.[2] ? readFileSync(mark[2]).length : 0;
			if (cell.droppedBytes !== 0 || kept !== FLOOD_BYTES) throw new Error(`${kept} of ${FLOOD_BYTES} bytes were kept`);
			return { wallMs: performance.now() - began };
		}
		case "death": {
			let killed = 0;
			const cell = kernel.execute("print('running')\nimport time\ntime.sleep(600)", {
				onChunk: () => {
					killed = performance.now();
					process.kill(pid, "SIGKILL");
				},
			});
			const { status } = await cell;
			if (status !== "dead") throw new Error(`the cell ended as ${status}`);
			return { wallMs: performance.now() - killed };
		}
		case "bare-loop":
			await runBareLoop(kernel, url);
			return {};
		case "agent-loop":
			await runAgentLoop(kernel, url);
			return {};
		default:
			throw new Error(`There is nothing named "${what}" to measure.`);
	}
}

/** Fields of `/proc/<pid>/stat` after the name; see proc(5). */
function statOf(pid: number): string[] {
	const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
	return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
}

function parentOf(pid: number): number {
	return Number(statOf(pid)[1]);
}

/** Milliseconds of processor time; the clock has 100 ticks a second. */
function cpuOf(pid: number): number {
	const fields = statOf(pid);
	return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** Memory in MB, with what is shared divided by those who share it. */
function memoryOf(pid: number): number {
	const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
	return Number(/^Pss:\s+(\d+)/m.exec(rollup)?.[1]) / 1024;
}
