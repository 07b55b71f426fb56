import { existsSync } from "node:fs";
import { readdir, readFile, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { expect } from "vitest";
import { check, isRunning, type KernelCase, until } from "./bench.ts";
import { openKept } from "./kept.ts";

/** What the first cell of a new kernel is told, without reasons. */
const namesOf = (lost: readonly { readonly name: string }[] | undefined) => lost?.map(({ name }) => name);

/** Variables outlive their kernel. */
export const SNAPSHOTS: readonly KernelCase[] = [
	{
		title: "After a kernel was killed between two cells the next one says what it has and what is lost (K19)",
		run: async (bench) => {
			const { kernel, events, saved, kill } = openKept(bench);
			await kernel.execute("x = [1, 2]\nlines = (line for line in 'ab')\nopen('runs', 'a').write('x');");
			await saved();
			await kill();
			expect(events.at(-1)).toMatchObject({
				type: "ended",
				signal: "SIGKILL",
				how: expect.stringContaining("SIGKILL"),
			});
			const next = await kernel.execute("print(x, open('runs').read(), 'lines' in globals())");
			check(next, { stdout: "[1, 2] x False\n" });
			expect(next.kernelRestarted).toBe(true);
			expect(next.restart).toEqual({
				how: "The kernel process was killed by SIGKILL.",
				restored: ["x"],
				lost: [{ name: "lines", why: "a live generator belongs to its process" }],
				behind: 0,
			});
			expect((await kernel.execute("1")).restart).toBeUndefined();
		},
	},
	{
		title: "A cell that ends its kernel is not run again, and what it changed is said to be missing",
		run: async (bench) => {
			const { kernel, events, saved } = openKept(bench);
			await kernel.execute("x = 1");
			await saved();
			const dead = await kernel.execute("x = 2\nopen('runs', 'a').write('x')\nimport os\nos._exit(7)");
			expect(dead.status).toBe("dead");
			expect(events.at(-1)).toMatchObject({ type: "ended", exitCode: 7 });
			const next = await kernel.execute("print(x, open('runs').read())");
			check(next, { stdout: "1 x\n" });
			expect(next.restart).toMatchObject({ restored: ["x"], lost: [], behind: 1 });
		},
	},
	{
		title: "A kernel that dies before any snapshot names all that is lost",
		run: async (bench) => {
			const { kernel } = openKept(bench);
			await kernel.execute("a = 1\ndef b(): pass");
			await kernel.execute("c = 2\nimport os\nos.kill(os.getpid(), 9)");
			const { restart } = await kernel.execute("1");
			expect(restart).toMatchObject({ restored: [], lost: [{ name: "a" }, { name: "b" }] });
		},
	},
	{
		title: "Without a folder for its session a kernel keeps nothing, and the names that are lost are said",
		run: async (bench) => {
			await bench.run("a = 1\n_own = 2");
			await bench.run("import os\nos.kill(os.getpid(), 9)");
			const { restart } = await bench.run("1");
			expect(restart).toMatchObject({ restored: [], lost: [{ name: "a" }, { name: "_own" }] });
		},
	},
	{
		title: "Names that were removed are not said to be lost",
		run: async (bench) => {
			await bench.run("a = b = 1");
			await bench.run("del a");
			await bench.run("import os\nos.kill(os.getpid(), 9)");
			expect(namesOf((await bench.run("1")).restart?.lost)).toEqual(["b"]);
		},
	},
	{
		title: "Another process goes on with values, imports, functions, classes, their instances and the folder",
		run: async (bench) => {
			const first = openKept(bench);
			await first.kernel.execute(
				"import os, json as j, os.path as p\nfrom collections import OrderedDict, namedtuple\nPoint = namedtuple('Point', 'x y')\nat = Point(1, 2)\n!mkdir sub\n%cd sub",
			);
			await first.kernel.execute(
				"import functools\n@functools.lru_cache\ndef fib(n):\n    return n if n < 2 else fib(n - 1) + fib(n - 2)\nif True:\n    class Box:\n        '''a\nbox'''\n        def __init__(self): self.held = fib(10)\nbox = Box()\nsame = box\nadd = lambda a: a + 1\nasync def later(): return 5",
			);
			await first.kernel.dispose();
			const { kernel } = openKept(bench);
			const cell = await kernel.execute(
				"print(os.getcwd() == p.realpath(os.getcwd()), os.path.basename(os.getcwd()), j.dumps(at), box.held, same is box, type(box) is Box, add(1), await later(), fib(20), OrderedDict())",
			);
			check(cell, { stdout: "True sub [1, 2] 55 True True 2 5 6765 OrderedDict()\n" });
			expect(cell.kernelRestarted).toBe(true);
			expect(cell.restart).toMatchObject({ lost: [], behind: 0 });
			expect(cell.restart?.how).toBeUndefined();
			// what was restored can be kept again
			await kernel.execute("box.held += 1");
			await kernel.dispose();
			check(await openKept(bench).kernel.execute("print(box.held, add(2), fib(7))"), { stdout: "56 3 13\n" });
		},
	},
	{
		title: "A closure is saved where dill is there, and named where it is not",
		run: async (bench) => {
			const { kernel, saved, kill } = openKept(bench);
			await kernel.execute("def make():\n    held = 3\n    return lambda: held\nf = make()");
			const has =
				(await kernel.execute("import importlib.util as u\nu.find_spec('dill') is not None")).result === "True";
			expect(namesOf((await saved()).unsaved)).toEqual(has ? [] : ["f"]);
			await kill();
			if (has) check(await kernel.execute("f()"), { result: "3" });
			await kernel.execute("import sys\nsys.modules['dill'] = None\nf = make()");
			expect((await saved()).unsaved).toEqual([
				{ name: "f", why: "no cell defines it by itself, so its source is not known" },
			]);
		},
	},
	{
		title: "A snapshot is readable by its owner only, holds no planted key, and nothing else is left beside it (K17)",
		run: async (bench) => {
			const { kernel, path, saved } = openKept(bench, { env: { ACME_API_KEY: "canary-7171" } });
			await kernel.execute("import os\nall = dict(os.environ)\nx = 'kept-value'");
			await saved();
			await kernel.dispose();
			const text = await readFile(path, "latin1");
			expect(text).toContain("kept-value");
			expect(text).not.toContain("canary-7171");
			expect((await stat(path)).mode & 0o777).toBe(0o600);
			expect((await stat(dirname(path))).mode & 0o777).toBe(0o700);
			expect(await readdir(dirname(path))).toEqual(["kernel-state"]);
		},
	},
	{
		title: "What lives in its process is named, and saving does it no harm",
		run: async (bench) => {
			const { kernel, saved } = openKept(bench);
			await kernel.execute(
				"import threading, subprocess, socket\nf = open('log', 'w')\nf.write('first');\nlock = threading.Lock()\nthread = threading.Thread(target=print)\nchild = subprocess.Popen(['sleep', '600'])\ns = socket.socket()\nkept = [1]\ninside = {'deep': [lock]}",
			);
			const { unsaved } = await saved();
			expect(namesOf(unsaved)).toEqual(["f", "lock", "thread", "child", "s", "inside"]);
			for (const { why } of unsaved) expect(why).toMatch(/live|cannot pickle/);
			check(await kernel.execute("child.kill()\nf.write(' second')\nf.close()\nopen('log').read()"), {
				result: "'first second'",
			});
		},
	},
	{
		title: "Variables that crash, hang or end the process when they are saved are named, and the others are saved",
		run: async (bench) => {
			const { kernel, saved, kill } = openKept(bench, { snapshots: { limits: { variableSeconds: 0.3 } } });
			await kernel.execute(
				"import os, time\nclass Crash:\n    def __reduce__(self): os.abort()\nclass Hang:\n    def __reduce__(self):\n        while True: time.sleep(1)\nclass End:\n    def __reduce__(self): os._exit(0)\nclass Raise:\n    def __reduce__(self): raise SystemExit('no')\nclass Deep:\n    def __reduce__(self): return (Deep, (self.next(),))\n    def next(self): return Deep()",
			);
			await kernel.execute(
				"a = 1\ncrash = Crash()\nb = 2\nhang = Hang()\nc = 3\nend = End()\nd = 4\nr = Raise()\ndeep = Deep()\ne = 5",
			);
			const { unsaved } = await saved();
			expect(namesOf(unsaved)).toEqual(["crash", "hang", "end", "r", "deep"]);
			expect(unsaved.map(({ why }) => why).join("\n")).toMatch(
				/SIGABRT[\s\S]*longer than 0\.3 s[\s\S]*ended the process[\s\S]*no[\s\S]*recursion/,
			);
			await kill();
			check(await kernel.execute("print(a, b, c, d, e)"), { stdout: "1 2 3 4 5\n" });
		},
	},
	{
		title: "Saving runs in a copy: what it prints, changes or signals reaches no cell",
		run: async (bench) => {
			const { kernel, saved } = openKept(bench);
			await kernel.execute(
				"import os, sys\nseen = []\nclass Loud:\n    def __reduce__(self):\n        seen.append(1)\n        print('loud')\n        os.system('echo louder')\n        sys.exit()\nloud = Loud()",
			);
			await saved();
			check(await kernel.execute("seen"), { result: "[]", stdout: "", stderr: "" });
		},
	},
	{
		title: "Saving writes to no open file, and holds no port that a cell gives up",
		run: async (bench) => {
			const { kernel, events, saved } = openKept(bench, {
				snapshots: { limits: { variableSeconds: 20, seconds: 20 } },
			});
			const cell = await kernel.execute(
				"import os, socket, time\nlog = open('log', 'w')\nlog.write('once ')\nserver = socket.create_server(('127.0.0.1', 0))\nport = server.getsockname()[1]\nclass Writes:\n    def __reduce__(self):\n        open('began', 'w').close()\n        while not os.path.exists('go'): time.sleep(0.01)\n        try: log.flush()\n        finally: os.write(log.fileno(), b'again')\nwrites = Writes()\nkept = 1",
			);
			check(cell, {});
			await until("it is being saved", () => existsSync(`${bench.folder}/began`));
			check(
				await kernel.execute("server.close()\nserver = socket.create_server(('127.0.0.1', port), reuse_port=False)"),
				{},
			);
			expect(events).toEqual([]);
			await kernel.execute("open('go', 'w').close()");
			expect((await saved()).names).toContain("kept");
			check(await kernel.execute("log.close()\nopen('log').read()"), { result: "'once '" });
		},
	},
	{
		title: "A cell does not wait for a snapshot that takes long",
		run: async (bench) => {
			const { kernel, events, path } = openKept(bench, { snapshots: { limits: { variableSeconds: 20, seconds: 20 } } });
			await kernel.execute(
				"import os, time\nclass Slow:\n    def __reduce__(self):\n        open('began', 'w').close()\n        while not os.path.exists('go'): time.sleep(0.01)\n        return (int, (7,))\nslow = Slow()\nx = 1",
			);
			await until("it is being saved", () => existsSync(`${bench.folder}/began`));
			check(await kernel.execute("x = 2\nx"), { result: "2" });
			expect(events).toEqual([]);
			await kernel.execute("open('go', 'w').close()");
			await until("it is saved", () => events.length > 0);
			expect(events[0]).toMatchObject({ type: "saved" });
			expect(existsSync(path)).toBe(true);
		},
	},
	{
		title: "Snapshots are bounded for each variable and in all, and what is left out is named with the limit",
		run: async (bench) => {
			const limits = { variable: 1 << 20, total: (1 << 20) + (1 << 19) };
			const { kernel, path, saved } = openKept(bench, { snapshots: { limits } });
			await kernel.execute("big = b'x' * (1 << 21)\na = b'a' * 900_000\nb = b'b' * 900_000\nc = 1");
			const { unsaved } = await saved();
			expect(unsaved).toEqual([
				{ name: "big", why: "it is larger than 1 MB" },
				{ name: "b", why: "all together would be larger than 1.5 MB" },
			]);
			expect((await stat(path)).size).toBeLessThan(limits.total + 10_000);
		},
	},
	{
		title: "A disk that refuses data leaves the snapshot before as it was, and that is said",
		run: async (bench) => {
			const { kernel, events, saved, path } = openKept(bench);
			await kernel.execute("x = 'first'");
			await saved();
			const before = await readFile(path);
			await kernel.execute(
				"import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (300, resource.RLIM_INFINITY))\nx = 'second' * 100",
			);
			await until("it is said", () => events.some(({ type }) => type === "save_failed"));
			expect(events.find(({ type }) => type === "save_failed")).toMatchObject({
				reason: expect.stringMatching(/File too large/),
			});
			expect(await readFile(path)).toEqual(before);
			expect((await readdir(dirname(path))).sort()).toEqual(["kernel-state", "kernel-state.behind"]);
		},
	},
	{
		title: "A namespace of which nothing can be saved does not take the place of one that was saved",
		run: async (bench) => {
			const { kernel, events, saved, path } = openKept(bench);
			await kernel.execute("x = 'first'");
			await saved();
			const before = await readFile(path);
			await kernel.execute("x = (i for i in 'a')");
			await until("it is said", () => events.some(({ type }) => type === "save_failed"));
			expect(await readFile(path)).toEqual(before);
		},
	},
	{
		title: "dispose saves what the last cell did, and a kernel without a cell saves nothing",
		run: async (bench) => {
			const idle = openKept(bench);
			idle.kernel.prewarm();
			await until("it is ready", () => idle.kernel.info() !== undefined);
			await idle.kernel.dispose();
			expect(existsSync(dirname(idle.path))).toBe(false);
			const { kernel, events, path } = openKept(bench);
			await kernel.execute("x = 5");
			await kernel.dispose();
			expect(events).toMatchObject([{ type: "saved", names: ["x"], unsaved: [] }]);
			expect(await readdir(dirname(path))).toEqual(["kernel-state"]);
			check(await openKept(bench).kernel.execute("x"), { result: "5" });
		},
	},
	{
		title: "dispose waits only so long for a last snapshot; the one before stays, and that is said",
		run: async (bench) => {
			const { kernel, events, saved } = openKept(bench, {
				snapshots: { limits: { variableSeconds: 600, seconds: 600 }, closeMs: 200 },
			});
			await kernel.execute("x = 1");
			await saved();
			await kernel.execute("import time\nclass Slow:\n    def __reduce__(self): time.sleep(600)\nslow = Slow()\nx = 2");
			await kernel.dispose();
			expect(events.at(-1)).toEqual({
				type: "save_failed",
				reason: "the program ended before it was written (0.2 s)",
			});
			const next = await openKept(bench).kernel.execute("x");
			check(next, { result: "1" });
			expect(next.restart?.behind).toBe("unknown");
		},
	},
	{
		title: "The copy that saves ends with its kernel and is not taken for a job of the user's",
		run: async (bench) => {
			const reported: unknown[] = [];
			const { kernel, kill } = openKept(bench, {
				snapshots: { limits: { variableSeconds: 600, seconds: 600 } },
				onLeftovers: (jobs) => reported.push(...jobs),
			});
			await kernel.execute(
				"import os, time\nclass Slow:\n    def __reduce__(self):\n        with open('copy', 'w') as f: f.write(str(os.getpid()))\n        time.sleep(600)\nslow = Slow()",
			);
			const path = `${bench.folder}/copy`;
			await until("it is being saved", () => existsSync(path));
			await until("its number is known", async () => (await readFile(path, "utf8")) !== "");
			const copy = Number(await readFile(path, "utf8"));
			expect(await isRunning(copy)).toBe(true);
			await kill();
			await until("the copy has ended", async () => !(await isRunning(copy)));
			await kernel.dispose();
			expect(reported).toEqual([]);
		},
	},
	{
		title: "A cell that waits for any child of its process harms no snapshot",
		run: async (bench) => {
			const { kernel, saved } = openKept(bench);
			await kernel.execute(
				"import os, threading\ndef wait():\n    while True:\n        try: os.wait()\n        except ChildProcessError: pass\nthreading.Thread(target=wait, daemon=True).start()\nx = 1",
			);
			expect((await saved()).names).toContain("x");
			check(await kernel.execute("x"), { result: "1" });
		},
	},
];
