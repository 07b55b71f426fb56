import type { Attack } from "./attack.ts";

/** Cells that say more than anybody can hold. */
export const FLOODS: readonly Attack[] = [
	{ name: "two gigabytes of a script", cells: ["%%bash\nyes | head -c 2G"], says: /left out/, inSuite: false },
	{
		name: "one line of a gigabyte of a script",
		cells: ["%%bash\nhead -c 1G /dev/zero | tr '\\0' a"],
		inSuite: false,
		says: /left out/,
	},
	{
		name: "two gigabytes on stderr of a child of Python",
		cells: ["import subprocess\nsubprocess.run('yes | head -c 2G >&2', shell=True)"],
		inSuite: false,
		says: /left out/,
	},
	{
		name: "one line of a gigabyte in many prints",
		cells: ["s = 'a' * 1_000_000\nfor _ in range(1000): print(s, end='')"],
		inSuite: false,
		says: /left out/,
	},
	{
		name: "a string of half a gigabyte",
		cells: ["print('é' * (1 << 28))"],
		kernelMb: false,
		inSuite: false,
		says: /left out/,
	},
	{
		name: "a value of half a gigabyte",
		cells: ["'x' * (1 << 29)"],
		kernelMb: false,
		inSuite: false,
		says: /left out|characters cut/,
	},
	{
		name: "a progress bar without end",
		cells: ["%%bash\nfor i in $(seq 300000); do printf '\\r%d' $i; done"],
		says: /300000/,
	},
	{
		name: "a line of escape sequences without end",
		cells: ["import sys\nfor i in range(30): sys.stdout.write('\\x1b[' * 100_000 + '\\x1b]0;' * 20_000)"],
	},
	{ name: "zero bytes", cells: ["%%bash\nhead -c 50M /dev/zero"], says: /left out/ },
	{ name: "fifty thousand flushed prints", cells: ["for i in range(50_000): print(i, flush=True)"], says: /49999/ },
	{
		name: "ten thousand displays of a megabyte",
		cells: ["for i in range(10_000): display({'image/png': 'A' * 1_000_000}, raw=True)"],
		says: /further displays were left out/,
		inSuite: false,
	},
	{
		name: "displays of characters that take six bytes each",
		cells: ["for i in range(8): display({'text/html': '\\x01' * 8_000_000}, raw=True)"],
		says: /left out/,
		kernelMb: 400,
	},
	{
		name: "twenty thousand requests to the host at once",
		cells: [
			"import asyncio\nr = await asyncio.gather(*(rlm.host_request('goal.get') for _ in range(20_000)), return_exceptions=True)\nlen(r)",
		],
		says: /20000/,
	},
	{
		name: "a request of two hundred megabytes",
		cells: [
			"try:\n    await rlm.host_request('goal.create', {'objective': 'x' * 200_000_000})\nexcept Exception as e: print(type(e).__name__, str(e)[:200])",
		],
		kernelMb: false,
		says: /10 MB/,
	},
	{
		name: "requests that are called off at once",
		cells: [
			"import asyncio\nfor _ in range(3000):\n    t = asyncio.create_task(rlm.host_request('goal.get'))\n    await asyncio.sleep(0)\n    t.cancel()\n'done'",
		],
		says: /done/,
	},
	{
		name: "an error message of a hundred megabytes with ten thousand notes",
		cells: ["e = ValueError('m' * 100_000_000)\nfor i in range(10_000): e.add_note('n' * 1000)\nraise e"],
		kernelMb: false,
		says: /ValueError/,
	},
	{
		name: "a group of a hundred thousand errors",
		cells: [
			"try:\n    G = ExceptionGroup\nexcept NameError:\n    G = lambda m, e: ValueError(m)\nraise G('many', [ValueError(str(i) * 100) for i in range(100_000)])",
		],
		kernelMb: false,
		limitMs: 60_000,
		never: /ran longer/,
	},
	{
		name: "a chain of ten thousand causes",
		cells: ["e = None\nfor i in range(10_000):\n    n = ValueError(str(i))\n    n.__cause__ = e\n    e = n\nraise e"],
		limitMs: 60_000,
		says: /ValueError: 9999/,
	},
	{
		name: "a background flood of a job, of threads and of a child",
		cells: [
			"%%bash\nyes job &\ntrue",
			"import subprocess\nsubprocess.Popen(['yes', 'child'])\n1",
			"import threading\ndef on():\n    while True: print('thread' * 100)\nfor _ in range(3): threading.Thread(target=on, daemon=True).start()",
			"import time\ntime.sleep(1)",
			"import time\ntime.sleep(1)",
		],
	},
	{
		name: "output on both streams from a hundred processes",
		cells: ["%%bash\nfor i in $(seq 100); do (yes $i | head -c 1M; yes e$i | head -c 1M >&2) & done; wait; echo end"],
		says: /end/,
	},
	{
		name: "a namespace of two hundred thousand names and a large object",
		cells: ["for i in range(200_000): globals()['n%d' % i] = i\nbig = list(range(3_000_000))", "n199999"],
		says: /199999/,
		kernelMb: 600,
	},
	{
		name: "a source of four megabytes",
		cells: [`x = 0\n${"x += 1\n".repeat(200_000)}x`, `"${"a".repeat(2_000_000)}"[:3]`],
		says: /200000/,
		kernelMb: false,
		inSuite: false,
	},
];
