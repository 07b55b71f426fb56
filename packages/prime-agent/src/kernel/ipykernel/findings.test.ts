import { existsSync, readdirSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { Bench, cells, check, findLack, type KernelCase, until } from "../testing/bench.ts";

/** What goes wrong with ipykernel as it comes; each was seen with version 6.17. */
const FINDINGS: readonly KernelCase[] = [
	cells(
		"A line of 300,000 characters of a script is whole and hangs nothing",
		["%%bash --out x\nhead -c 300000 /dev/zero | tr '\\0' a", "len(x)"],
		{ result: "300000" },
	),
	cells(
		"Lines of commands end without carriage returns",
		"x = !printf 'a\\nb\\n'\nprint(list(x))\n!printf 'c\\nd\\n' | od -c | head -1; test -t 1 || echo no terminal",
		{ stdout: /^\['a', 'b'\]\n0000000 {3}c {2}\\n {3}d {2}\\n\nno terminal\n$/ },
	),
	cells("Twenty thousand flushed prints are whole", "for i in range(20_000): print('l', flush=True)", {
		stdout: /^(l\n){20000}$/,
	}),
	{
		title: "A program that is blocked while a cell prints four thousand lines gets the end of the cell",
		run: async (bench) => {
			await bench.run("1");
			const cell = bench.run(
				"import os\nfor i in range(4001): print(i, flush=True)\ndisplay({'text/html': 'shown'}, raw=True)\nopen('printed', 'w').close()",
			);
			await new Promise((resolve) => setImmediate(resolve));
			const deadline = Date.now() + 30_000;
			while (!existsSync(`${bench.folder}/printed`) && Date.now() < deadline);
			check(await cell, { stdout: /^0\n1\n[\s\S]*\n4000\n$/, displays: [{ "text/html": "shown" }] });
		},
	},
	{
		title: "Three thousand requests that a cell sends while the program is blocked are all answered",
		run: async (bench) => {
			bench.kernel.serve(async (_type, { n }) => n);
			await bench.run("1");
			const cell = bench.run(
				"import asyncio\nasks = [asyncio.create_task(rlm.host_request('n', {'n': i, 'text': 'x' * 5000})) for i in range(3000)]\nawait asyncio.sleep(0.5)\nopen('sent', 'w').close()\nsum(await asyncio.gather(*asks))",
			);
			await new Promise((resolve) => setImmediate(resolve));
			const deadline = Date.now() + 30_000;
			while (!existsSync(`${bench.folder}/sent`) && Date.now() < deadline);
			check(await cell, { result: String((3000 * 2999) / 2) });
		},
	},
	cells(
		"A cell that leaves a broken sys.stdout behind still ends, and so do the next ones",
		[
			"import sys\nkept = sys.stdout\nclass Broken:\n    closed = False\n    def write(self, text): pass\n    def flush(self): raise OSError('broken')\nsys.stdout = Broken()",
			"sys.stdout = kept",
			"print('back')",
		],
		{ stdout: "back\n" },
	),
	cells(
		"Modules that the start leaves out can be imported by cells",
		"import IPython.terminal.embed, sys\n'jedi' in sys.modules and sys.modules['jedi'] is None",
		{
			result: "False",
		},
	),
	cells(
		"Modules that the start leaves for later are not loaded before a cell uses them, and whole then",
		[
			"import sys\nnames = ['ssl', 'asyncio.sslproto', 'psutil', 'pygments.lexers', 'urllib.request', 'jupyter_client', 'dateutil.parser']\nprint([n for n in names if type(sys.modules[n]).__name__ != 'Deferred'])",
			"import asyncio, jupyter_client, psutil, ssl, urllib.request\nfrom pygments.lexers import PythonLexer\nfrom dateutil.parser import parse\nclass Lexer(PythonLexer): pass\nprint(issubclass(ssl.SSLContext, object), issubclass(jupyter_client.KernelManager, object), psutil.Process().pid > 0, issubclass(urllib.request.Request, object), issubclass(asyncio.sslproto.SSLProtocol, object), parse('2026-01-02').day)\nprint([n for n in names if type(sys.modules[n]).__name__ == 'Deferred'])",
		],
		{ stdout: "True True True True True 2\n[]\n" },
	),
	cells(
		"Completion is there when a cell asks for it",
		[
			"import sys\nprint(type(sys.modules['IPython.core.completer']).__name__)",
			"value_of_a_cell = 1\nprint(get_ipython().complete('value_of_a_c')[1], get_ipython().Completer is get_ipython().Completer)",
		],
		{ stdout: "['value_of_a_cell'] True\n" },
	),
	cells(
		"Magics whose modules the start leaves for later work",
		["x = 41", "%store x\n%timeit -n1 -r1 1\n%prun -q 1\n%pdoc len", "%%python3\nprint('apart')"],
		{ stdout: "apart\n" },
	),
	{
		title: "The host sends no date, so that the kernel loads no parser of dates for the messages of cells",
		run: async (bench) => {
			await bench.run("1");
			check(await bench.run("import sys\ntype(sys.modules['dateutil.parser']).__name__"), { result: "'Deferred'" });
		},
	},
	{
		title: "The kernel listens on no port, its sockets are private and its key is in no file, argument or variable",
		run: async (bench) => {
			const cell = await bench.run(
				"import os, re\nfrom ipykernel.kernelapp import IPKernelApp as A\nkey = A.instance().session.key.decode()\nfolder = os.path.dirname(A.instance().ip)\nfound = [p for d, _, fs in os.walk(os.environ['TMPDIR']) for f in fs if not f.startswith('s-') for p in [os.path.join(d, f)] if key in open(p, errors='replace').read()]\nprint(oct(os.stat(folder).st_mode & 0o777), found, key in open('/proc/self/cmdline').read(), key in str(dict(os.environ)))\nmine = {os.readlink('/proc/self/fd/' + f) for f in os.listdir('/proc/self/fd') if os.path.exists('/proc/self/fd/' + f)}\nprint([l for l in open('/proc/net/tcp').readlines()[1:] if l.split()[3] == '0A' and 'socket:[%s]' % l.split()[9] in mine])",
			);
			check(cell, { stdout: "0o700 [] False False\n[]\n" });
			expect(readdirSync(bench.folder)).not.toContain(".ipython");
			await bench.kernel.dispose();
			await until("its folder is gone", () => readdirSync(bench.folder).every((name) => !name.startsWith("prime-")));
		},
	},
	{
		title: "A kernel whose folder has a long name is reached over the network instead",
		run: async (bench) => {
			const folder = `${bench.folder}/${"long".repeat(20)}`;
			const { mkdir } = await import("node:fs/promises");
			await mkdir(folder);
			const { env } = bench.options();
			const kernel = bench.open({ env: { ...env, TMPDIR: folder } });
			check(await kernel.execute("from ipykernel.kernelapp import IPKernelApp as A\nprint(A.instance().transport)"), {
				stdout: "tcp\n",
			});
		},
	},
	cells(
		"No history of cells is written to the folder of IPython",
		"from IPython.paths import get_ipython_dir\nimport os\nprint(get_ipython().history_manager.enabled, [f for d, _, fs in os.walk(get_ipython_dir()) for f in fs])",
		{ stdout: "False []\n" },
	),
	cells("Values of earlier cells are in Out, as in IPython", ["41 + 1", "Out[1] + _1"], { result: "84" }),
];

const lacks = await findLack("ipykernel");

describe.skipIf(lacks)(`ipykernel as it comes${lacks ? " (left out: no Python has ipykernel)" : ""}`, () => {
	for (const { title, run } of FINDINGS) {
		it(title, async () => {
			const bench = await Bench.create("ipykernel");
			try {
				await run(bench);
			} finally {
				await bench.close();
			}
		});
	}
});
