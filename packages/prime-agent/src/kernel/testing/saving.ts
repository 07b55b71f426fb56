import { existsSync } from "node:fs";
import { readdir, readFile, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect } from "vitest";
import type { KernelEvent } from "../../session/ports.ts";
import { type Bench, check, isRunning, type KernelCase, until } from "./bench.ts";
import { namesOf, openKept } from "./kept.ts";

/** How variables are saved: bounded, aside, by a copy that harms nothing. */
export const SAVING: readonly KernelCase[] = [
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
			const { kernel, saved, kill } = openKept(bench, { snapshots: { limits: { variableSeconds: 4, seconds: 60 } } });
			await kernel.execute(
				"import os, time\nclass Crash:\n    def __reduce__(self): os.abort()\nclass Hang:\n    def __reduce__(self):\n        while True: time.sleep(1)\nclass End:\n    def __reduce__(self): os._exit(0)\nclass Raise:\n    def __reduce__(self): raise SystemExit('no')\nclass Deep:\n    def __reduce__(self): return (Deep, (self.next(),))\n    def next(self): return Deep()",
			);
			await kernel.execute(
				"a = 1\ncrash = Crash()\nb = 2\nhang = Hang()\nc = 3\nend = End()\nd = 4\nr = Raise()\ndeep = Deep()\ne = 5",
			);
			const { unsaved } = await saved();
			expect(namesOf(unsaved)).toEqual(["crash", "hang", "end", "r", "deep"]);
			expect(unsaved.map(({ why }) => why).join("\n")).toMatch(
				/SIGABRT[\s\S]*longer than 4 s[\s\S]*ended the process[\s\S]*no[\s\S]*recursion/,
			);
			await kill();
			check(await kernel.execute("print(a, b, c, d, e)"), { stdout: "1 2 3 4 5\n" });
		},
	},
	{
		title: "Variables that stop, block or kill the process that saves them are named, and hold up no later snapshot",
		run: async (bench) => {
			const { kernel, saved, kill, events } = openKept(bench, {
				snapshots: { limits: { variableSeconds: 1, seconds: 30 } },
			});
			await kernel.execute(
				"import os, signal, time\ndef harm(act):\n    class Harm:\n        def __reduce__(self):\n            act()\n            time.sleep(600)\n    return Harm()\ndef block():\n    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])",
			);
			await kernel.execute(
				"a = 1\nitself = harm(lambda: os.kill(os.getpid(), signal.SIGSTOP))\nb = 2\ngroup = harm(lambda: os.kill(0, signal.SIGSTOP))\nd = 4\nparent = harm(lambda: os.kill(os.getppid(), signal.SIGSTOP))\ne = 5\nkills = harm(lambda: os.kill(os.getppid(), signal.SIGKILL))\nc = 3\nblocks = harm(block)\nf = 6",
			);
			const why = (await saved()).unsaved;
			expect(Object.fromEntries(why.map((each) => [each.name, each.why]))).toEqual({
				itself: "saving it stopped the process",
				blocks: "saving it took longer than 1 s",
				group: "saving it stopped the copy of the kernel that does it",
				parent: "saving it stopped the copy of the kernel that does it",
				kills: "saving it ended the copy of the kernel that does it",
			});
			// what it was stays out, whatever comes under its name is saved
			await kernel.execute("g = 7\nparent = 8\nblocks = 9");
			await kernel.save();
			expect(namesOf((await saved()).unsaved)).not.toContain("parent");
			expect(events.filter(({ type }) => type !== "saved")).toEqual([]);
			await kill();
			check(await kernel.execute("print(a, b, c, d, e, f, g, parent, blocks)"), { stdout: "1 2 3 4 5 6 7 8 9\n" });
		},
	},
	{
		title: "A kernel whose only variable kills the process that saves it keeps the snapshot that it had",
		run: async (bench) => {
			const { events } = await failToSave(
				bench,
				"class Kills:\n    def __reduce__(self):\n        import os\n        os.kill(os.getppid(), 9)\nx = Kills()\ndel Kills",
			);
			expect(events.at(-1)).toMatchObject({ reason: expect.stringContaining("saving it ended the copy") });
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
		title:
			"A process that a variable leaves behind when it is saved does not hold up the snapshot, and ends with the kernel",
		run: async (bench) => {
			const { kernel, saved, kill } = openKept(bench);
			await kernel.execute(
				"import os, time\nclass Fork:\n    def __reduce__(self):\n        if os.fork() == 0:\n            os.setsid()\n            open('left', 'w').write(str(os.getpid()))\n            time.sleep(600)\n        return (int, ('5',))\nclass Both:\n    def __reduce__(self):\n        os.fork()\n        return (int, ('6',))",
			);
			await kernel.execute("a = 1\nleft = Fork()\nboth = Both()\nz = 2");
			expect((await saved()).unsaved).toEqual([]);
			const path = join(bench.options().cwd, "left");
			await until("it runs", () => existsSync(path));
			const pid = Number(await readFile(path, "utf8"));
			await kill();
			check(await kernel.execute("print(a, left, z)"), { stdout: "1 5 2\n" });
			await kernel.dispose();
			expect(await isRunning(pid)).toBe(false);
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
		title: "The settings kernel.snapshot bound what is saved: size of one and of all, number, time of one and of all",
		run: async (bench) => {
			const sizes = { variableMb: 1, totalMb: 1.5, variables: 4 };
			const small = openKept(bench, { settings: { snapshot: sizes } });
			await small.kernel.execute("big = b'x' * (1 << 21)\na = b'a' * 900_000\nb = b'b' * 900_000\nc = 1\nd = 2");
			const report = await small.saved();
			expect(report.names).toEqual(["a", "c"]);
			expect(report.unsaved).toEqual([
				{ name: "big", why: "it is larger than 1 MB" },
				{ name: "b", why: "all together would be larger than 1.5 MB" },
				{ name: "d", why: "the number of variables is limited to 4" },
			]);
			await small.kernel.dispose();
			const times = { variableTimeoutMs: 2000, timeoutMs: 3000 };
			const short = openKept(bench, { settings: { snapshot: times } });
			await short.kernel.execute(
				"import time\nclass Slow:\n    def __reduce__(self): time.sleep(600)\nx, y, z = Slow(), Slow(), Slow()",
			);
			const { unsaved } = await short.saved();
			expect(unsaved.map(({ name, why }) => `${name}: ${why}`).join("\n")).toMatch(
				/^x: saving it took longer than 2 s\ny: .*\nz: there was no time left$/m,
			);
		},
	},
	{
		title: "A namespace of a hundred thousand long names is saved as far as it may be, and told in part",
		run: async (bench) => {
			const { kernel, events } = openKept(bench, { settings: { snapshot: { variables: 10 } } });
			await kernel.execute("first = 1\nlong = 'x' * 50\nfor i in range(100_000): globals()[f'name_{long}_{i}'] = i");
			await until("it is saved", () => events.length > 0);
			expect(events).toMatchObject([{ type: "saved", behind: 0 }]);
			const [{ names, unsaved }] = events as [Extract<KernelEvent, { type: "saved" }>];
			expect([names.length, unsaved.length]).toEqual([10, 2000]);
			await kernel.execute("first = 2");
			await kernel.dispose();
			check(await openKept(bench).kernel.execute("first"), { result: "2" });
		},
	},
	{
		title: "A disk that refuses data leaves the snapshot before as it was, and that is said",
		run: async (bench) => {
			const { events, path } = await failToSave(
				bench,
				"import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (300, resource.RLIM_INFINITY))\nx = 'second' * 100",
			);
			expect(events.find(({ type }) => type === "save_failed")).toMatchObject({
				reason: expect.stringMatching(/File too large/),
			});
			expect((await readdir(dirname(path))).sort()).toEqual(["kernel-state", "kernel-state.behind"]);
		},
	},
	{
		title: "A namespace of which nothing can be saved does not take the place of one that was saved",
		run: async (bench) => {
			await failToSave(bench, "x = (i for i in 'a')");
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

/** A kernel whose snapshot of `x` cannot be replaced after this cell; the snapshot has to stay as it was. */
async function failToSave(bench: Bench, cell: string) {
	const kept = openKept(bench);
	await kept.kernel.execute("x = 'first'");
	await kept.saved();
	const before = await readFile(kept.path);
	await kept.kernel.execute(cell);
	await until("it is said", () => kept.events.some(({ type }) => type === "save_failed"));
	expect(await readFile(kept.path)).toEqual(before);
	return kept;
}
