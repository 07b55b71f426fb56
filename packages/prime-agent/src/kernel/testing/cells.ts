import { cells, type KernelCase } from "./bench.ts";

/** Python in cells: the namespace, values, await, errors. */
export const CELLS: readonly KernelCase[] = [
	cells("A variable lives from one cell to the next", ["x = 20", "print(x + 1)"], { stdout: "21\n", stderr: "" }),
	cells("The last expression is the result of the cell", "1 + 1\n2 + 2", { result: "4", stdout: "" }),
	cells("A last expression that is None gives no result", "None", { result: undefined }),
	cells("A statement at the end gives no result", "5\nx = 1", { result: undefined }),
	cells("A semicolon at the end hides the result", "5;", { result: undefined }),
	cells("The last value is in _", ["6 * 7", "_ + 1"], { result: "43" }),
	cells("An empty cell ends well", "", { result: undefined, stdout: "" }),
	cells("Top-level await works", "import asyncio\nawait asyncio.sleep(0.01, 'slept')", { result: "'slept'" }),
	cells("Top-level async for and async with work", "async def g():\n    yield 1\n    yield 2\n[i async for i in g()]", {
		result: "[1, 2]",
	}),
	cells(
		"A background task goes on while a later cell awaits",
		[
			"import asyncio\nseen = []\nasync def tick():\n    while True:\n        seen.append(1)\n        await asyncio.sleep(0.005)\nt = asyncio.create_task(tick())",
			"before = len(seen)\nwhile len(seen) < before + 3: await asyncio.sleep(0.01)\nt.cancel()",
		],
		{ status: "ok" },
	),
	cells(
		"A background task goes on between cells",
		[
			"import asyncio\ndone = []\nasync def later():\n    await asyncio.sleep(0.01)\n    done.append(1)\nt = asyncio.create_task(later())",
			"import asyncio\nawait asyncio.wait_for(t, 20)\ndone",
		],
		{ result: "[1]" },
	),
	cells("asyncio.run works inside a cell", "import asyncio\nasync def f():\n    return 7\nasyncio.run(f())", {
		result: "7",
	}),
	cells(
		"A loop of the user's own works inside a cell, and await works after it",
		["import asyncio\nasyncio.new_event_loop().run_until_complete(asyncio.sleep(0, 8))", "await asyncio.sleep(0, 9)"],
		{ result: "9" },
	),
	cells(
		"An exception has its name, its message and the source line",
		"def f():\n    raise ValueError('no good')\nf()",
		{
			error: "ValueError: no good",
			traceback: /raise ValueError\('no good'\)\nValueError: no good$/,
		},
	),
	cells("A traceback names line and function of the user's frames", ["x = 1", "def f():\n    return 1/0\n\nf()"], {
		traceback: /<cell 2>", line 4, in <module>[\s\S]*line 2, in f/,
	}),
	cells("A traceback leaves out frames of the kernel", "1/0", { traceback: /^(?![\s\S]*(rlm|asyncio|ipykernel))/ }),
	cells("A traceback through a library keeps the user's frames and the innermost one", "import json\njson.loads('{')", {
		traceback: /<cell 1>", line 2[\s\S]*decoder\.py[\s\S]*JSONDecodeError/,
	}),
	cells(
		"A traceback shows the cause of an exception",
		"try:\n    1/0\nexcept Exception as e:\n    raise KeyError('k') from e",
		{
			traceback: /ZeroDivisionError[\s\S]*direct cause[\s\S]*KeyError/,
		},
	),
	cells("An endless recursion gives a short traceback", "def f(): return g()\ndef g(): return f()\nf()", {
		error: /^RecursionError/,
		traceback: /^([^\n]*\n){3,70}[^\n]*$/,
	}),
	cells(
		"A traceback of two hundred thousand frames is reported",
		"import sys, types\nlink = None\nfor _ in range(200_000): link = types.TracebackType(link, sys._getframe(), 0, 3)\nraise ValueError('deep').with_traceback(link)",
		{ error: "ValueError: deep", traceback: /frames in the middle are left out/ },
	),
	cells(
		"A background task that calls sys.exit does not end the cell",
		"import asyncio, sys\nasync def f(): sys.exit(3)\nt = asyncio.create_task(f())\nawait asyncio.sleep(0.05, 'went on')",
		{
			result: "'went on'",
		},
	),
	cells("A syntax error names the line and runs nothing", "print('ran')\nx = = 1", {
		error: /^SyntaxError/,
		stdout: "",
		traceback: /line 2/,
	}),
	cells(
		"An exception whose text fails is still reported",
		"class E(Exception):\n    def __str__(self): raise RuntimeError\nraise E()",
		{
			error: /^E: /,
		},
	),
	cells(
		"A value whose repr fails is an error of the cell",
		"class C:\n    def __repr__(self): raise RuntimeError('odd')\nC()",
		{
			error: "RuntimeError: odd",
		},
	),
	cells("An error keeps the variables and what came before it", ["a = 5\nprint('before')\n1/0", "a"], {
		result: "5",
		afterFailure: true,
	}),
	cells("sys.exit ends the cell and not the kernel", ["kept = 3", "import sys\nsys.exit(2)", "kept"], {
		result: "3",
		afterFailure: true,
	}),
	cells("exit() ends the cell and not the kernel", ["kept = 3", "exit()", "print(kept)"], {
		stdout: "3\n",
		afterFailure: true,
	}),
	cells(
		"inspect.getsource finds functions of cells",
		["def f():\n    return 'here'", "import inspect\ninspect.getsource(f)"],
		{
			result: /return 'here'/,
		},
	),
	cells(
		"A class of a cell can be pickled",
		["class P:\n    v = 1", "import pickle\npickle.loads(pickle.dumps(P())).v"],
		{
			result: "1",
		},
	),
	cells(
		"An import from the future holds for later cells",
		["from __future__ import annotations", "def f(x: not_there): pass"],
		{
			status: "ok",
		},
	),
	cells("A cell that is indented as a whole runs", "    x = 3\n    x", { result: "3" }),
	cells(
		"A context variable keeps its value",
		["import contextvars\nv = contextvars.ContextVar('v')\nv.set(4);", "v.get()"],
		{
			result: "4",
		},
	),
	cells(
		"A context variable keeps its value over cells that await",
		[
			"import asyncio, contextvars\nv = contextvars.ContextVar('v')",
			"v.set(4)\nawait asyncio.sleep(0);",
			"await asyncio.sleep(0, v.get())",
		],
		{ result: "4" },
	),
	cells(
		"A module in the working folder can be imported",
		["%%writefile mymod.py\nvalue = 11", "import mymod\nmymod.value"],
		{
			result: "11",
		},
	),
	cells(
		"A file of the project named like a standard module breaks nothing",
		["%%writefile colorsys.py\nraise RuntimeError('shadowed')", "import colorsys\ncolorsys.rgb_to_hsv(0, 0, 0)[0]"],
		{ result: "0.0" },
	),
	cells(
		"A forked child that runs on does not answer for the kernel",
		["import os\npid = os.fork()\nif pid: os.waitpid(pid, 0)\n'parent' if pid else 'child'", "'next'"],
		{ result: "'next'" },
	),
	cells(
		"multiprocessing works and its output is shown",
		"import multiprocessing as m\np = m.get_context('fork').Process(target=print, args=('from child',), kwargs={'flush': True})\np.start(); p.join(); p.exitcode",
		{ result: "0", stdout: "from child\n" },
	),
	cells(
		"Closing the standard streams does not silence later cells",
		["import sys\nsys.stdout.close()\nsys.stdin.close()\nsys.stdout = None", "print('still here')"],
		{
			stdout: "still here\n",
		},
	),
	{
		title: "Cells run in call order and one at a time",
		run: async (bench) => {
			const { expect } = await import("vitest");
			await bench.run("seen = []");
			await Promise.all(
				[1, 2, 3].map((i) =>
					bench.run(`import asyncio\nseen.append(${i})\nawait asyncio.sleep(0.01)\nseen.append(${i})`),
				),
			);
			expect((await bench.run("seen")).result).toBe("[1, 1, 2, 2, 3, 3]");
		},
	},
];
