import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { expect } from "vitest";
import type { LeftoverJob } from "../index.ts";
import { type Bench, cells, check, isRunning, type KernelCase, until } from "./bench.ts";

/** The number in a file that a cell writes. */
async function readPid(bench: Bench, name: string): Promise<number> {
	await until(`${name} is written`, async () =>
		/^\d+\n$/.test(await readFile(`${bench.folder}/${name}`, "utf8").catch(() => "")),
	);
	return Number(await readFile(`${bench.folder}/${name}`, "utf8"));
}

/** A kernel that dies under a cell: what the cell says, and that the next one starts anew and nothing runs twice. */
function dies(how: string, code: string, said: RegExp): KernelCase {
	return {
		title: `A kernel that ends by ${how} is noticed at once, and the next cell gets a new one`,
		run: async (bench) => {
			await bench.run("lost = 1");
			const cell = await bench.run(
				`print('before', flush=True)\nwith open('runs', 'a') as f: f.write('x')\nimport time\ntime.sleep(0.2)\n${code}`,
			);
			check(cell, { status: "dead", stdout: "before\n", error: said });
			expect(bench.kernel.info()).toBeUndefined();
			const next = await bench.run("print('lost' in globals(), open('runs').read())");
			check(next, { stdout: "False x\n" });
			expect(next.kernelRestarted).toBe(true);
			expect((await bench.run("1")).kernelRestarted).toBe(false);
		},
	};
}

/** Start, death, background jobs, the end. */
export const LIFE: readonly KernelCase[] = [
	dies("SIGKILL", "import os\nos.kill(os.getpid(), 9)", /killed by SIGKILL/),
	dies("a crash", "import faulthandler\nfaulthandler._sigsegv()", /SIGSEGV[\s\S]*Segmentation fault/),
	dies("os._exit", "import os\nos._exit(7)", /exit code 7/),
	{
		title: "A kernel that dies between two cells is noticed and replaced, and the cell says so",
		run: async (bench) => {
			await bench.run("import os, threading\nthreading.Timer(0.05, lambda: os.kill(os.getpid(), 9)).start()");
			await until("the death is noticed", () => bench.kernel.info() === undefined);
			const next = await bench.run("'fresh'");
			check(next, { result: "'fresh'" });
			expect(next.kernelRestarted).toBe(true);
		},
	},
	...["x = 1", "import asyncio\nawait asyncio.sleep(0)"].map(
		(first, mode): KernelCase => ({
			title: `An alarm that rings after its cell does not harm the kernel ${mode === 0 ? "before" : "after"} a first await`,
			run: async (bench) => {
				await bench.run(first);
				await bench.run(
					"import signal\ndef ring(*_):\n    open('rung', 'w').close()\n    raise TimeoutError('rings late')\nsignal.signal(signal.SIGALRM, ring)\nkept = 'kept'\nsignal.setitimer(signal.ITIMER_REAL, 0.05);",
				);
				await until("it has rung", () => existsSync(`${bench.folder}/rung`));
				check(await bench.run("kept"), { result: "'kept'", stderr: /TimeoutError: rings late/ });
			},
		}),
	),
	cells(
		"An alarm that rings while a cell awaits is an error of the cell",
		"import asyncio, signal\ndef ring(*_): raise TimeoutError('in time')\nsignal.signal(signal.SIGALRM, ring)\nsignal.setitimer(signal.ITIMER_REAL, 0.05)\nawait asyncio.sleep(600)",
		{
			error: "TimeoutError: in time",
		},
	),
	{
		title: "A pre-warmed kernel serves the first cell, and nothing says that it starts",
		run: async (bench) => {
			bench.kernel.prewarm();
			bench.kernel.prewarm();
			await until("it is ready", () => bench.kernel.info() !== undefined);
			const pid = bench.kernel.info()?.pid;
			const seen: string[] = [];
			const cell = await bench.run("import os\nos.getpid()", { onStatus: (status) => seen.push(status) });
			check(cell, { result: String(pid) });
			expect(seen).toEqual(["running"]);
			expect(cell.kernelRestarted).toBe(false);
		},
	},
	{
		title: "The first cell says that the kernel starts, and info tells what serves",
		run: async (bench) => {
			const seen: string[] = [];
			expect(bench.kernel.info()).toBeUndefined();
			const cell = await bench.run("import sys\nprint(sys.executable, sys.version.split()[0])", {
				onStatus: (status) => seen.push(status),
			});
			expect(seen).toEqual(["starting", "running"]);
			const info = bench.kernel.info();
			expect(cell.stdout).toBe(`${info?.python} ${info?.version}\n`);
		},
	},
	{
		title: "A background child that holds the output does not hold the cell (K05)",
		run: async (bench) => {
			check(await bench.run("%%bash\nsleep 600 &\necho started"), { stdout: "started\n" });
			check(await bench.run("!sleep 600 &\nprint('next')"), { stdout: "next\n" });
		},
	},
	{
		title: "A child that left its group and holds the output does not hold the cell (K05)",
		run: async (bench) => {
			check(await bench.run("%%bash\nsetsid sleep 600 &\necho started"), { stdout: "started\n" });
		},
	},
	{
		title: "A server in the background goes on serving after its cell, and what it logs is shown later (K05)",
		run: async (bench) => {
			await bench.run(
				'%%bash\npython3 -u -c \'\nimport http.server as h\ns = h.HTTPServer(("127.0.0.1", 0), h.SimpleHTTPRequestHandler)\nopen("port", "w").write(str(s.server_port) + chr(10))\ns.serve_forever()\' &',
			);
			const port = await readPid(bench, "port");
			for (let round = 0; round < 3; round += 1) {
				check(await bench.run(`import urllib.request as u\nu.urlopen('http://127.0.0.1:${port}/').status`), {
					result: "200",
				});
			}
			await until("its log is seen", async () => (await bench.run("1")).stderr.includes("GET /"));
		},
	},
	{
		title: "A background flood neither blocks the kernel nor grows it",
		run: async (bench) => {
			await bench.run("import subprocess\np = subprocess.Popen(['yes', 'n'])");
			for (let round = 0; round < 5; round += 1) {
				expect((await bench.run("import time\ntime.sleep(0.02)")).stdout.length).toBeLessThan(70_000);
			}
			check(await bench.run("p.kill()\n1 + 1"), { result: "2" });
		},
	},
	{
		title: "A background job that floods is silenced after a megabyte, and that is said",
		run: async (bench) => {
			await bench.run("%%bash\nyes &");
			let said = "";
			await until("the job is silenced", async () => {
				const { stdout } = await bench.run("1");
				said += stdout;
				return said.includes("wrote more than 1 MB");
			});
			// what was on its way is out, and for several rounds of reading nothing more comes
			await bench.run("1");
			check(await bench.run("import time\ntime.sleep(0.35)"), { stdout: "" });
		},
	},
	{
		title: "dispose ends background jobs of every kind and reports them (K07)",
		run: async (bench) => {
			const reported: LeftoverJob[] = [];
			const kernel = bench.open({ onLeftovers: (jobs) => reported.push(...jobs) });
			await kernel.execute(
				"%%bash\nsleep 601 & echo $! > plain\nsetsid sleep 602 & echo $! > apart\nenv -i sleep 603 & echo $! > bare\nsh -c 'trap \"\" TERM; echo $$ > deaf; while :; do sleep 0.05; done' &",
			);
			await kernel.execute(
				"import subprocess\np = subprocess.Popen(['sleep', '604'])\nprint(p.pid, file=open('python', 'w'))",
			);
			const names = ["plain", "apart", "bare", "deaf", "python"];
			const pids = await Promise.all(names.map((name) => readPid(bench, name)));
			await kernel.dispose();
			expect(await Promise.all(pids.map(isRunning))).toEqual(names.map(() => false));
			const commands = reported.map((job) => job.command);
			for (const seconds of ["601", "602", "603", "604"]) expect(commands).toContain(`sleep ${seconds}`);
		},
	},
	{
		title: "What a killed kernel had started is ended and reported too (K07)",
		run: async (bench) => {
			const reported: LeftoverJob[] = [];
			const kernel = bench.open({ onLeftovers: (jobs) => reported.push(...jobs) });
			await kernel.execute("!sleep 605 & echo $! > job");
			const job = await readPid(bench, "job");
			await kernel.execute("import os\nos.kill(os.getpid(), 9)");
			await until("the job has ended", async () => !(await isRunning(job)));
			await until("it is reported", () => reported.some(({ pid, command }) => pid === job && command === "sleep 605"));
		},
	},
	{
		title: "dispose of a kernel that was killed just before waits for the end of its jobs",
		run: async (bench) => {
			await bench.run("%%bash\nsh -c 'trap \"\" TERM; echo $$ > deaf; while :; do sleep 0.05; done' &");
			const job = await readPid(bench, "deaf");
			process.kill(bench.kernel.info()?.pid ?? 0, "SIGKILL");
			await until("the death is noticed", () => bench.kernel.info() === undefined);
			await bench.kernel.dispose();
			expect(await isRunning(job)).toBe(false);
		},
	},
	{
		title: "dispose stops a running cell, and can be called twice",
		run: async (bench) => {
			const cell = bench.run("print('on')\nimport time\ntime.sleep(600)");
			await until("the kernel runs", () => bench.kernel.info() !== undefined);
			await Promise.all([bench.kernel.dispose(), bench.kernel.dispose()]);
			expect(["dead", "interrupted"]).toContain((await cell).status);
			await expect(bench.run("1")).rejects.toThrow(/closed/);
		},
	},
	{
		title: "dispose ends a kernel that hears nothing",
		run: async (bench) => {
			const kernel = bench.open();
			const code =
				"import signal, time\nsignal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT, signal.SIGTERM])\nprint('on')\nwhile True:\n    try:\n        time.sleep(60)\n    except BaseException: pass";
			const { promise: on, resolve } = Promise.withResolvers<void>();
			const cell = kernel.execute(code, { onChunk: () => resolve() });
			await on;
			const pid = kernel.info()?.pid ?? 0;
			await kernel.dispose();
			expect((await cell).status).toBe("dead");
			expect(await isRunning(pid)).toBe(false);
		},
	},
	{
		title: "dispose while the kernel starts leaves nothing behind",
		run: async (bench) => {
			const kernel = bench.open();
			kernel.prewarm();
			await kernel.dispose();
			expect(kernel.info()).toBeUndefined();
		},
	},
	{
		title: "Files that a cell left open are written at the end",
		run: async (bench) => {
			await bench.run("f = open('open.txt', 'w')\nf.write('not closed');");
			await bench.kernel.dispose();
			expect(await readFile(`${bench.folder}/open.txt`, "utf8")).toBe("not closed");
		},
	},
	{
		title: "The temporary folder of the kernel is gone after its end",
		run: async (bench) => {
			const cell = await bench.run("print('x' * 200_000)");
			const path = /output is in (\S+)/.exec(cell.stdout)?.[1] ?? "";
			expect(existsSync(path)).toBe(true);
			await bench.run("import os\nos.kill(os.getpid(), 9)");
			await until("the folder is gone", () => !existsSync(path));
		},
	},
	cells("input() fails at once and says why (K01)", "input('name? ')", { error: /nobody can type here.*name\?/s }),
	cells("getpass fails at once", "import getpass, warnings\nwarnings.simplefilter('ignore')\ngetpass.getpass()", {
		error: /nobody can type here/,
	}),
	cells("Reading sys.stdin fails at once", "import sys\nsys.stdin.readline()", { error: /nobody can type here/ }),
	cells("A debugger does not wait for a person", "breakpoint()\nx = 1", { status: "error" }),
	cells("A script that reads its input gets the end of it", "%%bash\nread line || echo nothing to read\ncat", {
		stdout: "nothing to read\n",
	}),
	cells(
		"A command finds no terminal",
		"%%bash\n(: < /dev/tty) 2>/dev/null && echo terminal || echo none\ntty || true",
		{ stdout: "none\nnot a tty\n" },
	),
	cells("A Python program in a script fails at input()", "%%bash\npython3 -c 'input()'", {
		error: /exit code 1/,
		stderr: /EOFError/,
	}),
];
