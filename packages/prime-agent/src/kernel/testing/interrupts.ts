import { expect } from "vitest";
import type { CellResult } from "../../session/ports.ts";
import type { Kernel } from "../index.ts";
import { type Bench, check, isRunning, type KernelCase, until } from "./bench.ts";

/** Runs a cell and interrupts it once it has printed `ready`. */
async function interrupt(kernel: Kernel, code: string): Promise<CellResult> {
	const stop = new AbortController();
	let seen = "";
	return await kernel.execute(code, {
		signal: stop.signal,
		onChunk: ({ text }) => {
			seen += text;
			if (seen.includes("ready")) stop.abort();
		},
	});
}

/** The cell is interrupted, and the kernel goes on with its variables. */
function stops(what: string, code: string, more?: (bench: Bench, cell: CellResult) => Promise<void>): KernelCase {
	return {
		title: `An interrupt stops ${what}, and the variables are kept`,
		run: async (bench) => {
			await bench.run("kept = 'kept'");
			const cell = await interrupt(bench.kernel, code);
			expect(cell.status).toBe("interrupted");
			expect(cell.stdout).toMatch(/ready/);
			expect(cell.stdout).not.toMatch(/after/);
			check(await bench.run("kept"), { result: "'kept'" });
			await more?.(bench, cell);
		},
	};
}

/** Fails while a process named by a number in a file still runs. */
async function isGone(bench: Bench, file: string): Promise<void> {
	const { readFile } = await import("node:fs/promises");
	const pid = Number(await readFile(`${bench.folder}/${file}`, "utf8"));
	expect(pid).toBeGreaterThan(1);
	expect(await isRunning(pid)).toBe(false);
}

const READY = "print('ready')\n";

/** Interrupts in all kinds of code, and the time limit. */
export const INTERRUPTS: readonly KernelCase[] = [
	stops("a busy loop", `${READY}while True: pass`),
	stops("time.sleep", `import time\n${READY}time.sleep(600)\nprint('after')`),
	stops("a top-level await", `import asyncio\n${READY}await asyncio.sleep(600)\nprint('after')`),
	stops("an await on an event that never comes", `import asyncio\n${READY}await asyncio.Event().wait()`),
	stops("asyncio.run", `import asyncio\n${READY}asyncio.run(asyncio.sleep(600))`),
	stops(
		"a background task that keeps the processor while the cell awaits",
		`import asyncio\nasync def f():\n    while True: pass\n${READY}t = asyncio.create_task(f())\nawait asyncio.sleep(600)`,
	),
	stops("a search in C code", `import re, time\n${READY}time.sleep(0.2)\nre.match(r'(a+)+$', 'a' * 60 + 'b')`),
	stops(
		"a wait for a thread",
		`import threading\nt = threading.Thread(target=threading.Event().wait, daemon=True)\nt.start()\n${READY}t.join()`,
	),
	stops("a wait for a queue", `import queue\n${READY}queue.Queue().get()`),
	stops(
		"a wait for a connection",
		`import socket\ns = socket.socket()\ns.bind(('127.0.0.1', 0))\ns.listen()\n${READY}s.accept()`,
	),
	stops(
		"subprocess.run",
		`import subprocess\n${READY}subprocess.run(['sh', '-c', 'echo $$ > pid; sleep 600'])`,
		(bench) => isGone(bench, "pid"),
	),
	stops("a row of os.system calls", `import os\n${READY}for i in range(20): os.system('sleep 600')\nprint('after')`),
	stops("a script", "%%bash\necho ready; sleep 600; echo after"),
	stops(
		"a script that ignores INT and TERM",
		"%%bash\ntrap '' INT TERM\necho $$ > pid\necho ready\nwhile true; do sleep 0.1; done",
		(bench) => isGone(bench, "pid"),
	),
	stops(
		"the grandchildren of a script (K03)",
		"%%bash\n( (yes > /dev/null & echo $! > pid; wait) )& \nsleep 0.1; echo ready; wait; sleep 600",
		async (bench) => isGone(bench, "pid"),
	),
	stops("!cmd", "!echo ready; sleep 600\nprint('after')"),
	stops("x = !cmd", `${READY}x = !sleep 600\nprint('after')`),
	stops("a flood", "%%bash\necho ready; yes"),
	stops("a request to the host", `import rlm\n${READY}await rlm.host_request('never')`),
	stops(
		"code that catches the first interrupt",
		`import time\n${READY}try:\n    time.sleep(600)\nexcept KeyboardInterrupt:\n    time.sleep(600)\n`,
	),
	{
		title: "A signal that another thread of the kernel receives stops an await",
		run: async (bench) => {
			const cell = await bench.run(
				"import asyncio, signal, threading, time\ndef send():\n    time.sleep(0.3)\n    signal.pthread_kill(threading.get_ident(), signal.SIGINT)\nthreading.Thread(target=send).start()\nawait asyncio.sleep(600)",
			);
			check(cell, { status: "interrupted", error: /KeyboardInterrupt/ });
		},
	},
	{
		title: "What a program says when it is interrupted is shown",
		run: async (bench) => {
			const cell = await interrupt(
				bench.kernel,
				"%%bash\ntrap 'echo bye; exit 1' INT\necho ready\nwhile true; do sleep 0.05; done",
			);
			check(cell, { status: "interrupted", stdout: "ready\nbye\n", error: /KeyboardInterrupt/ });
		},
	},
	{
		title: "An interrupt that comes too late does not hit the next cell",
		run: async (bench) => {
			for (let round = 0; round < 5; round += 1) {
				const stop = new AbortController();
				const first = bench.run("x = 1", { signal: stop.signal });
				const second = bench.run("import time\ntime.sleep(0.02)\n'untouched'");
				await first;
				stop.abort();
				check(await second, { result: "'untouched'" });
			}
		},
	},
	{
		title: "A signal that strays into an idle kernel does no harm",
		run: async (bench) => {
			await bench.run("kept = 'kept'");
			process.kill(-(bench.kernel.info()?.pid ?? 0), "SIGINT");
			check(await bench.run("import asyncio\nawait asyncio.sleep(0, kept)"), { result: "'kept'", stderr: "" });
			process.kill(-(bench.kernel.info()?.pid ?? 0), "SIGINT");
			check(await bench.run("kept"), { result: "'kept'", stderr: "" });
		},
	},
	{
		title: "An interrupt right after the start stops the cell",
		run: async (bench) => {
			await bench.run("1");
			const stop = new AbortController();
			const cell = bench.run("import time\ntime.sleep(600)", {
				signal: stop.signal,
				onStatus: () => setImmediate(() => stop.abort()),
			});
			expect((await cell).status).toBe("interrupted");
		},
	},
	{
		title: "A cell that is called off before its turn never runs, and its caller waits for nobody",
		run: async (bench) => {
			const first = new AbortController();
			const second = new AbortController();
			const running = bench.run("import time\ntime.sleep(600)", { signal: first.signal });
			const waiting = bench.run("open('ran', 'w')", { signal: second.signal });
			second.abort();
			expect((await waiting).status).toBe("interrupted");
			first.abort();
			await running;
			check(await bench.run("import os\nos.path.exists('ran')"), { result: "False" });
		},
	},
	{
		title: "A cell past its time limit is stopped and says so, and the queue goes on (K01)",
		run: async (bench) => {
			const kernel = bench.open({ settings: { cellTimeoutMs: 150 } });
			const slow = kernel.execute("kept = 1\nimport time\ntime.sleep(600)");
			const next = kernel.execute("kept");
			const cell = await slow;
			check(cell, { status: "timeout", error: /TimeoutError: The cell ran longer than 0.15 s.*Variables are kept/s });
			check(await next, { result: "1" });
		},
	},
	{
		title: "A script past its time limit ends with what it started, and the variables are kept (K03)",
		run: async (bench) => {
			const kernel = bench.open({ settings: { cellTimeoutMs: 1000 } });
			await kernel.execute("kept = 1");
			const cell = await kernel.execute(
				"%%bash\n(sleep 600 & echo $! > grandchild; wait) &\nwhile [ ! -s grandchild ]; do sleep 0.01; done\nsleep 600",
			);
			check(cell, { status: "timeout", error: /Variables are kept/ });
			await isGone(bench, "grandchild");
			check(await kernel.execute("kept"), { result: "1" });
		},
	},
	{
		title: "The time limit goes by the given clock",
		run: async (bench) => {
			const { promise: limit, resolve: pass } = Promise.withResolvers<void>();
			const asked: number[] = [];
			const clock = {
				now: () => 0,
				sleep: async (ms: number, signal?: AbortSignal) => {
					asked.push(ms);
					const stopped = new Promise<void>((resolve) => signal?.addEventListener("abort", () => resolve()));
					await Promise.race([limit, stopped]);
				},
			};
			const kernel = bench.open({ clock });
			const cell = kernel.execute("print('ready')\nimport time\ntime.sleep(600)", { onChunk: () => pass() });
			expect((await cell).status).toBe("timeout");
			expect(asked[0]).toBe(600_000);
		},
	},
	{
		title: "A cell that ignores every interrupt loses its kernel, and says so",
		run: async (bench) => {
			const kernel = bench.open({ interruptGraceMs: 300 });
			const deaf =
				"import signal, time\nsignal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])\nwhile True:\n    try:\n        print('ready')\n        time.sleep(60)\n    except BaseException: pass";
			const cell = await interrupt(kernel, deaf);
			check(cell, {
				status: "interrupted",
				stdout: /ready/,
				error: /ignored the interrupt.*killed: all variables are gone/s,
			});
			const next = await kernel.execute("'new'");
			check(next, { result: "'new'" });
			expect(next.kernelRestarted).toBe(true);
		},
	},
	{
		title: "A cell has ten minutes, and ten seconds more when it ignores that they are over",
		run: async (bench) => {
			const { promise: over, resolve: pass } = Promise.withResolvers<void>();
			const grace: number[] = [];
			const clock = {
				now: () => 0,
				sleep: async (ms: number) => {
					if (ms === 600_000) await over;
					else grace.push(ms);
				},
			};
			const kernel = bench.open({ clock });
			const deaf =
				"import signal, time\nsignal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])\nprint('ready')\nwhile True:\n    try: time.sleep(60)\n    except BaseException: pass";
			const cell = await kernel.execute(deaf, { onChunk: () => pass() });
			check(cell, {
				status: "timeout",
				error: /ran longer than 10 min and ignored the interrupt for 10 s, so its kernel was killed/,
			});
			expect(grace.reduce((sum, ms) => sum + ms, 0)).toBe(10_000);
		},
	},
	{
		title: "Two interrupted cells in a row both stop",
		run: async (bench) => {
			for (const code of [`${READY}while True: pass`, `import asyncio\n${READY}await asyncio.sleep(600)`]) {
				expect((await interrupt(bench.kernel, code)).status).toBe("interrupted");
			}
			await until("the kernel is still the same", async () => (await bench.run("1")).kernelRestarted === false);
		},
	},
];
