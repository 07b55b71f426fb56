import { readdir, readFile, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { expect } from "vitest";
import { check, type KernelCase } from "./bench.ts";
import { namesOf, openKept } from "./kept.ts";

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
];
