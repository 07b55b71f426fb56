import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { bundleGauge } from "./bundled-gauge.ts";
import { startCellServer } from "./cell-server.ts";
import { type Figure, findMedian, type Program, runProgram, timeProgram } from "./measure.ts";

// What cells cost: beside `node -e 0`, Jupyter's own start, a bare pipe, and the same kernel without a session.

type Backend = "builtin" | "ipykernel";
type Gauge = { readonly python: string; readonly wallMs: number; readonly cpuMs: number; readonly mb: number };

const CELLS = 30;
const root = resolve(import.meta.dirname, "..");
const node = process.execPath;
const server = await startCellServer();
const { env, folder: cwd } = server;
const nothing: Program = { file: node, args: ["-e", "0"], env, cwd };
const main = join(root, "packages/prime-agent/dist/main.js");
const gaugeFile = join(root, "packages/prime-agent/src/kernel/testing/gauge.ts");
const lacks = new Map<Backend, Promise<string | undefined>>();
let python = "python3";
const loops = await bundleGauge(env);

/** What `bench/run.ts` measures. */
export const figures: Figure[] = [
	firstCell("builtin", 2.5),
	firstCell("ipykernel", 6),
	furtherCells("builtin", "agent-loop"),
	furtherCells("builtin", "bare-loop"),
	furtherCells("ipykernel", "agent-loop"),
	furtherCells("ipykernel", "bare-loop"),
	{
		...common("ipykernel", "ready, processor time"),
		unit: "ms",
		limit: 0.7,
		floorName: "python -m ipykernel",
		floor: async () => (await startReference()).cpuMs,
		subject: async () => (await gauge("ready", "ipykernel")).cpuMs,
	},
	{
		...common("builtin", "ready"),
		unit: "ms",
		limit: 0.2,
		floorName: "python -m ipykernel",
		floor: async () => (await startReference()).wallMs,
		subject: async () => (await gauge("ready", "builtin")).wallMs,
		// its floor needs one
		unavailable: () => findLack("ipykernel"),
	},
	flood("builtin", 3),
	flood("ipykernel", 6),
	memory("builtin", 25),
	memory("ipykernel", 60),
	death("builtin"),
	death("ipykernel"),
];

/** Ends the server and removes what was made for it. */
export async function close(): Promise<void> {
	await loops.dispose();
	await server.close();
}

function common(backend: Backend, what: string) {
	return { name: `${backend} kernel, ${what}`, unavailable: () => findLack(backend) };
}

function firstCell(backend: Backend, limit: number): Figure {
	return {
		...common(backend, "first reply to second request"),
		unit: "ms",
		limit,
		floorName: "node -e 0",
		floor: () => timeProgram(nothing),
		subject: async () => (await runSession(backend, 1))[0] ?? Number.NaN,
	};
}

/** What the session costs (beside the same loop without one), and what all of it costs (beside the least code). */
function furtherCells(backend: Backend, loop: "agent-loop" | "bare-loop"): Figure {
	return {
		...common(backend, "further cells, median"),
		unit: "ms",
		...(loop === "agent-loop" ? { limit: 1.3 } : {}),
		floorName: loop === "agent-loop" ? "the same loop without a session" : "a bare loop of fetch",
		floor: async () => {
			server.begin(CELLS);
			await runProgram({ file: node, args: [loops.file, loop, backend, server.url], env: loops.env, cwd });
			checkCells(CELLS);
			return findMedian(server.gaps().slice(1));
		},
		subject: async () => findMedian((await runSession(backend, CELLS)).slice(1)),
	};
}

function flood(backend: Backend, limit: number): Figure {
	return {
		...common(backend, "50 MB through %%bash"),
		unit: "ms",
		limit,
		floorName: "bash -c to a reader",
		floor: async () => {
			const started = performance.now();
			const child = spawn("bash", ["-c", "yes $(printf %098d 0) | head -c 50000000"], {
				stdio: ["ignore", "pipe", "ignore"],
			});
			let size = 0;
			child.stdout.on("data", (data: Buffer) => {
				size += data.length;
			});
			await once(child, "close");
			if (size < 50_000_000) throw new Error(`the reader got ${size} bytes`);
			return performance.now() - started;
		},
		subject: async () => (await gauge("flood", backend)).wallMs,
	};
}

function memory(backend: Backend, most: number): Figure {
	return {
		...common(backend, "idle memory"),
		unit: "MB",
		most,
		floorName: "python3 that waits",
		floor: weighPython,
		subject: async () => (await gauge("memory", backend)).mb,
	};
}

function death(backend: Backend): Figure {
	return {
		...common(backend, "killed to noticed"),
		unit: "ms",
		most: 100,
		floorName: "the exit of a killed sleep",
		floor: async () => {
			const child = spawn("sleep", ["600"], { stdio: "ignore" });
			await once(child, "spawn");
			const killed = performance.now();
			child.kill("SIGKILL");
			await once(child, "exit");
			return performance.now() - killed;
		},
		subject: async () => (await gauge("death", backend)).wallMs,
	};
}

/** Runs a session whose first replies ask for cells; gives the times from each reply to the next request. */
async function runSession(backend: Backend, cells: number): Promise<readonly number[]> {
	server.begin(cells);
	const args = [main, "-p", "--no-session", "--model", "bench/bench", "hi"];
	await runProgram({ file: node, args, env: { ...env, PRIME_AGENT_KERNEL: backend }, cwd });
	checkCells(cells);
	return server.gaps();
}

function checkCells(cells: number): void {
	if (server.gaps().length !== cells) throw new Error(`${server.gaps().length} of ${cells} cells were run`);
}

async function gauge(...args: readonly string[]): Promise<Gauge> {
	const program = { file: node, args: ["--disable-warning=ExperimentalWarning", gaugeFile, ...args], env, cwd };
	return JSON.parse(await runProgram(program)) as Gauge;
}

async function startReference(): Promise<Gauge> {
	const script = join(import.meta.dirname, "reference-kernel.py");
	return JSON.parse(await runProgram({ file: python, args: [script], env, cwd })) as Gauge;
}

async function weighPython(): Promise<number> {
	const script = "print(int([l for l in open('/proc/self/smaps_rollup') if l.startswith('Pss:')][0].split()[1]))";
	return Number(await runProgram({ file: python, args: ["-I", "-c", script], env, cwd })) / 1024;
}

/** Why a back end cannot be measured here, or nothing. */
function findLack(backend: Backend): Promise<string | undefined> {
	let lack = lacks.get(backend);
	if (!lack) {
		lack = existsSync(main)
			? gauge("ready", backend).then(
					(found) => {
						if (backend === "ipykernel") python = found.python;
						return undefined;
					},
					(error: Error) => error.message.split("\n")[0],
				)
			: Promise.resolve("there is no bundle");
		lacks.set(backend, lack);
	}
	return lack;
}
