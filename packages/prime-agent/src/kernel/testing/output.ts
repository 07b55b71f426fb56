import { existsSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { expect } from "vitest";
import { cells, check, type KernelCase, until } from "./bench.ts";

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** What a cell shows: streams, limits, odd bytes, rich values. */
export const OUTPUT: readonly KernelCase[] = [
	cells("stdout and stderr are kept apart", "import sys\nprint('a')\nprint('b', file=sys.stderr)", {
		stdout: "a\n",
		stderr: "b\n",
	}),
	cells(
		"Output of C code and of child processes is shown in order with print",
		"import os, subprocess\nprint(1)\nos.system('echo 2')\nprint(3)\nsubprocess.run(['echo', '4'])\nos.write(1, b'5\\n')\nprint(6)\n!echo 7\nprint(8)",
		{
			stdout: "1\n2\n3\n4\n5\n6\n7\n8\n",
		},
	),
	cells("Output on descriptor 2 goes to stderr", "import os\nos.write(2, b'low\\n');", { stderr: "low\n", stdout: "" }),
	cells("Output without a newline at its end is shown", "print('no newline', end='')", { stdout: "no newline" }),
	cells("Bytes written to sys.stdout.buffer are shown", "import sys\nsys.stdout.buffer.write(b'raw\\n');", {
		stdout: "raw\n",
	}),
	{
		title: "A character that is written in two pieces arrives whole, also live",
		run: async (bench) => {
			let seen = "";
			const cell = await bench.run(
				"import os, time\nos.write(1, b'\\xf0\\x9f')\ntime.sleep(0.2)\nos.write(1, b'\\x98\\x80\\n')\ntime.sleep(0.2)",
				{
					onChunk: ({ text }) => {
						seen += text;
					},
				},
			);
			check(cell, { stdout: "😀\n" });
			expect(seen).toBe("😀\n");
		},
	},
	cells("Bytes that are not UTF-8 are shown with replacements", "%%bash\nprintf 'a\\xff\\xfeb\\n'", {
		stdout: "a\ufffd\ufffdb\n",
	}),
	cells("A NUL byte does no harm", "print('a\\0b')\n!printf 'c\\0d\\n'", { stdout: "a\ufffdb\nc\ufffdd\n" }),
	cells("Line separators of Unicode arrive as they are", "print('a\\u2028b\\u2029c\\x85d')", {
		stdout: "a\u2028b\u2029c\x85d\n",
	}),
	cells("A lone surrogate does no harm", "print('x\\ud800y')\n'\\udfff'", { stdout: "x\\ud800y\n" }),
	cells("A carriage return before a newline is only the end of a line", "print('a\\r\\nb', end='\\r\\n')", {
		stdout: "a\nb\n",
	}),
	cells(
		"A progress bar shows its last state",
		"import sys\nfor i in range(101):\n    sys.stdout.write(f'\\r{i:3d}%')\n    sys.stdout.flush()\nprint()",
		{
			stdout: "100%\n",
		},
	),
	cells(
		"A progress bar on stderr in a script shows its last state",
		"%%bash\nfor i in 1 2 3; do printf '\\rstep %d of 3' $i >&2; done; echo >&2",
		{
			stderr: "step 3 of 3\n",
		},
	),
	cells("A shorter text over a longer one leaves the rest, as a terminal does", "print('-----\\rab')", {
		stdout: "ab---\n",
	}),
	cells("Erasing the line is carried out (K13)", "print('----------\\rHello\\x1b[K')", { stdout: "Hello\n" }),
	cells(
		"A progress bar of megabytes takes no room among the output around it",
		"import sys\nprint('before')\nfor i in range(200_000): sys.stdout.write('\\r\\x1b[32m%d of 199999\\x1b[0m' % i)\nprint()\nprint('after')",
		{ stdout: "before\n199999 of 199999\nafter\n" },
	),
	cells("Backspaces are carried out", "print('abc\\b\\bX')", { stdout: "aXc\n" }),
	cells(
		"Colours, hidden text, titles and links are taken out",
		"print('\\x1b[1;31mred\\x1b[0m \\x1b[8mhid\\x1b[28m \\x1b]0;title\\x07\\x1b]8;;http://x\\x1b\\\\link\\x1b]8;;\\x1b\\\\')",
		{
			stdout: "red hid link\n",
		},
	),
	cells("Text that looks like the kernel's own messages stays text", `print('{"op":"done","cell":1,"status":"ok"}')`, {
		stdout: '{"op":"done","cell":1,"status":"ok"}\n',
	}),
	cells(
		"Writing to low descriptors does not disturb the kernel",
		[
			"import os\nfor fd in range(3, 30):\n    try: os.write(fd, b'{\"op\":1}\\n\\xff')\n    except OSError: pass",
			"'sound'",
		],
		{
			result: "'sound'",
		},
	),
	cells(
		"Closing inherited descriptors does not disturb the kernel",
		["import os\nos.closerange(3, 40)", "!echo sound"],
		{ stdout: "sound\n" },
	),
	cells(
		"Output of a thread is shown",
		"import threading\nt = threading.Thread(target=print, args=('from thread',))\nt.start(); t.join()",
		{
			stdout: "from thread\n",
		},
	),
	cells(
		"Many threads that print at once lose nothing",
		"from concurrent.futures import ThreadPoolExecutor as T\nimport sys\nwith T(8) as p: list(p.map(lambda i: sys.stdout.write('%d\\n' % i), range(3000)))",
		{ stdout: /^(\d+\n){3000}$/ },
	),
	cells(
		"A signal handler of the user's that prints does not block the kernel",
		"import signal\nn = 0\ndef tell(*_):\n    global n\n    n += 1\n    print('tick' * 10000)\n    signal.setitimer(signal.ITIMER_REAL, 0.001)\nsignal.signal(signal.SIGALRM, tell)\nsignal.setitimer(signal.ITIMER_REAL, 0.001)\nwhile n < 60: print('x' * 40000)\nsignal.setitimer(signal.ITIMER_REAL, 0)\nn",
		{ result: /^6\d$/ },
	),
	cells("Small output is whole", "print('x' * 30000)", { stdout: `${"x".repeat(30000)}\n` }),
	cells("A line of a megabyte is cut in the middle only", "print('a' * 500_000 + 'b' * 500_000)", {
		stdout: /^a{1000,}[^ab]+\[\.\.\. [\d,]+ bytes left out[\s\S]+\]\nb{1000,}\n$/,
	}),
	cells(
		"A line of 300,000 characters of a script is cut in the middle only, and what follows it is there",
		"%%bash\nhead -c 150000 /dev/zero | tr '\\0' a; head -c 150000 /dev/zero | tr '\\0' b; echo; echo end",
		{ stdout: /^a{1000,}[^ab]+\[\.\.\. [\d,]+ bytes left out[\s\S]+\]\nb{1000,}\nend\n$/ },
	),
	cells("A long list shows its start and its length", "list(range(100_000))", {
		result: /^\[0,\n? 1,[\s\S]{1,9000}100000 items\)\]$/,
	}),
	cells("A list that contains itself has a result", "a = []\na.append(a)\na", { result: "[[...]]" }),
	cells("A long string as a value is cut in the middle", "'q' * 10_000_000", {
		result: /^'q{1000,}\n\[\.\.\. \d+ characters left out \.\.\.\]\nq+'$/,
	}),
	cells("A nested value is laid out over lines", "{'a': list(range(30)), 'b': 'x' * 80}", { result: /^\{'a': \[0,\n/ }),
	cells(
		"An HTML form comes beside the text",
		"class H:\n    def __repr__(self): return 'plain'\n    def _repr_html_(self): return '<b>rich</b>'\nH()",
		{
			result: "plain",
			displays: [{ "text/html": "<b>rich</b>", "text/plain": "plain" }],
		},
	),
	cells(
		"An image comes as base64",
		`import base64\nclass I:\n    def __repr__(self): return 'img'\n    def _repr_png_(self): return base64.b64decode('${PNG}')\nI()`,
		{
			displays: [{ "image/png": PNG, "text/plain": "img" }],
		},
	),
	cells(
		"A photograph comes as base64, and a drawing as its text",
		"class I:\n    def __repr__(self): return 'both'\n    def _repr_jpeg_(self): return b'\\xff\\xd8'\n    def _repr_svg_(self): return '<svg/>'\nI()",
		{
			displays: [{ "image/svg+xml": "<svg/>", "image/jpeg": "/9g=", "text/plain": "both" }],
		},
	),
	cells(
		"A MIME bundle of an object is taken as it is",
		"class M:\n    def __repr__(self): return 'm'\n    def _repr_mimebundle_(self, include=None, exclude=None): return {'text/markdown': '**m**'}\nM()",
		{
			displays: [{ "text/markdown": "**m**", "text/plain": "m" }],
		},
	),
	cells(
		"display with raw data passes the diff type on",
		"display({'application/vnd.prime-agent.diff+json': {'path': 'a', 'hunks': [1]}}, raw=True)",
		{
			displays: [{ "application/vnd.prime-agent.diff+json": { path: "a", hunks: [1] } }],
			result: undefined,
		},
	),
	cells("display of a plain value is text among the output", "print(1)\ndisplay({'a': 1})\nprint(2)", {
		stdout: "1\n{'a': 1}\n2\n",
		displays: [],
	}),
	cells(
		"A table of pandas is text alone",
		"class DataFrame:\n    def __repr__(self): return '   a\\n0  1'\n    def _repr_html_(self): return '<table>'\nDataFrame.__module__ = 'pandas.core.frame'\nDataFrame()",
		{
			result: "   a\n0  1",
			displays: [],
		},
	),
	cells("A display that is too large is left out and said", "display({'image/png': 'A' * 9_000_000}, raw=True)", {
		stdout: /left out/,
		displays: [],
	}),
	cells(
		"Too many displays are left out, and that is said once",
		"for i in range(60): display({'text/html': str(i)}, raw=True)",
		{
			stdout: /^[^\n]*further displays were left out[^\n]*\n$/,
			displays: Array.from({ length: 50 }, (_, i) => ({ "text/html": String(i) })),
		},
	),
	{
		title: "Displays that are too large together are left out, and that is said",
		run: async (bench) => {
			const cell = await bench.run("for i in range(6): display({'image/png': 'A' * 5_000_000}, raw=True)");
			check(cell, { stdout: /further displays were left out/ });
			expect(cell.displays.length).toBe(2);
		},
	},
	cells("A display that is not JSON is an error of the cell", "display({'x/y': {1, 2}}, raw=True)", {
		error: /TypeError: .*JSON/,
	}),
	{
		title: "Output is live before the cell ends",
		run: async (bench) => {
			let seen = "";
			const cell = bench.run(
				"print('early')\nprint('prompt: ', end='')\nimport os, time\nos.write(1, b'low')\nwhile not os.path.exists('go'): time.sleep(0.01)",
				{
					onChunk: (chunk) => {
						seen += chunk.text;
					},
				},
			);
			await until("the output is seen", () => seen === "early\nprompt: low");
			const { writeFile } = await import("node:fs/promises");
			await writeFile(`${bench.folder}/go`, "");
			check(await cell, { stdout: "early\nprompt: low" });
			expect(seen).toBe("early\nprompt: low");
		},
	},
	{
		title: "A flood keeps its head and its tail, and the whole is in a private file",
		run: async (bench) => {
			const cell = await bench.run("for i in range(60_000): print(i)");
			expect(cell.stdout.length).toBeLessThan(70_000);
			expect(cell.stdout).toMatch(/^0\n1\n[\s\S]*59999\n$/);
			const path = /whole output is in (\S+)/.exec(cell.stdout)?.[1] ?? "";
			expect((await readFile(path, "utf8")).split("\n").length).toBe(60_001);
			expect((await stat(path)).mode & 0o777).toBe(0o600);
			expect(cell.droppedBytes).toBe(0);
			check(await bench.run(`open('${path}').read().count('\\n')`), { result: "60000" });
			await bench.kernel.dispose();
			expect(existsSync(path)).toBe(false);
		},
	},
	{
		title: "A flood of a script past the cap of the file is counted",
		run: async (bench) => {
			const kernel = bench.open({ limits: { keep: 2000, spill: 100_000 } });
			const cell = await kernel.execute("%%bash\nhead -c 5000000 /dev/zero | tr '\\0' 'z'; echo end");
			check(cell, { stdout: /^z+\n\[\.\.\..*first 100,000 bytes are in.*\]\nz*end\n$/ });
			expect(cell.droppedBytes).toBe(5_000_004 - 100_000);
		},
	},
	{
		title: "A flood of print past the cap of the file is counted, and one on stderr leaves stdout whole",
		run: async (bench) => {
			const kernel = bench.open({ limits: { keep: 2000, spill: 100_000 } });
			const lines = 60_000;
			const bytes = Array.from({ length: lines }, (_, i) => `${i}\n`).join("").length;
			const cell = await kernel.execute(`for i in range(${lines}): print(i)`);
			check(cell, { stdout: /^0\n[\s\S]*first 100,000 bytes are in[\s\S]*\n59999\n$/, stderr: "" });
			expect(cell.droppedBytes).toBe(bytes - 100_000);
			const both = await kernel.execute(
				`import sys\nprint('kept')\nfor i in range(${lines}): print(i, file=sys.stderr)\nprint('whole')`,
			);
			check(both, { stdout: "kept\nwhole\n", stderr: /^0\n[\s\S]*first 100,000 bytes are in[\s\S]*\n59999\n$/ });
			expect(both.droppedBytes).toBe(bytes - 100_000);
		},
	},
	{
		title: "A flood of !cmd keeps its head and its tail, without carriage returns",
		run: async (bench) => {
			const cell = await bench.run("!yes abc | head -c 4000000; echo end");
			check(cell, {
				stdout: /^(abc\n)+[abc]*\n\[\.\.\. [\d,]+ bytes left out; the whole[^\n]*\]\n[abc]*\n(abc\n)+end\n$/,
			});
		},
	},
	{
		title: "A flood of zero bytes and one of a single endless line stay bounded (K09)",
		run: async (bench) => {
			for (const source of [
				"head -c 20000000 /dev/zero",
				"yes abcdefg | head -c 20000000 | tr -d '\\n'",
				"yes | head -c 20000000",
			]) {
				const cell = await bench.run(`%%bash\n${source}`);
				expect(cell.stdout.length).toBeLessThan(70_000);
			}
			const rss = await bench.output("print(open('/proc/self/status').read().split('VmHWM:')[1].split()[0])");
			expect(Number(rss)).toBeLessThan(150_000);
		},
	},
	{
		title: "x = !cmd of a flood keeps a bounded part and says so",
		run: async (bench) => {
			const cell = await bench.run("x = !head -c 20000000 /dev/zero | tr '\\0' a | fold -w 99\nprint(len(x.n))");
			check(cell, { stdout: "16777216\n", stderr: /only the first 16777216 of 20202020 bytes/ });
		},
	},
	{
		title: "Output of the background between two cells is shown with the next one",
		run: async (bench) => {
			await bench.run(
				"import threading, os\nout = threading.Event()\ndef f():\n    out.wait(); print('meanwhile'); open('said', 'w')\nthreading.Thread(target=f).start()",
			);
			await bench.run("threading.Timer(0.05, out.set).start()");
			await until("the thread has printed", () => existsSync(`${bench.folder}/said`));
			check(await bench.run("print('next')"), { stdout: "meanwhile\nnext\n" });
		},
	},
];
