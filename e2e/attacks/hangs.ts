import type { Attack } from "./attack.ts";

const LIMIT = 2500;

/** Cells that do not end by themselves. */
export const HANGS: readonly Attack[] = [
	{
		name: "a loop that catches everything",
		cells: ["while True:\n    try:\n        while True: pass\n    except BaseException: pass"],
		limitMs: LIMIT,
		mayKill: true,
		says: /ran longer than 2.5 s/,
		inSuite: false,
	},
	{
		name: "a sleep with all signals blocked",
		cells: ["import signal, time\nsignal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))\nwhile True: time.sleep(600)"],
		limitMs: LIMIT,
		mayKill: true,
		says: /killed/,
		inSuite: false,
	},
	{
		name: "SIGINT ignored by its handler",
		cells: ["import signal, time\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: time.sleep(600)"],
		limitMs: LIMIT,
		mayKill: true,
		says: /ran longer than 2.5 s/,
		inSuite: false,
	},
	{
		name: "a kernel that stops itself",
		cells: ["import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)"],
		limitMs: LIMIT,
		mayKill: true,
		says: /killed/,
		inSuite: false,
	},
	{
		name: "C code that holds the interpreter for good",
		cells: ["sum(range(10**15))"],
		limitMs: LIMIT,
		mayKill: true,
		says: /ran longer than 2.5 s/,
		inSuite: false,
	},
	{
		name: "a search that takes forever",
		cells: ["import re\nre.match(r'(a+)+$', 'a' * 60 + 'b')"],
		limitMs: LIMIT,
		says: /ran longer than 2.5 s and was interrupted/,
	},
	{
		name: "an await that swallows its cancellation",
		cells: ["import asyncio\nwhile True:\n    try:\n        await asyncio.sleep(600)\n    except BaseException: pass"],
		limitMs: LIMIT,
		mayKill: true,
		says: /killed/,
		inSuite: false,
	},
	{
		name: "a value whose repr never ends",
		cells: ["class R:\n    def __repr__(self):\n        while True: pass\nR()"],
		limitMs: LIMIT,
		says: /was interrupted/,
	},
	{
		name: "an exception whose message never ends",
		cells: ["class E(Exception):\n    def __str__(self):\n        while True: pass\nraise E()"],
		limitMs: LIMIT,
		mayKill: true,
		says: /ran longer than 2.5 s/,
	},
	{
		name: "an iterator as a value and a container that grows while it is shown",
		cells: [
			"import itertools\nitertools.count()",
			"class L(list):\n    def __iter__(self):\n        while True: yield 1\nL([1])",
			"class D(dict):\n    def __repr__(self):\n        return 'd' * 10\n    def items(self):\n        while True: yield 1, 1\nD(a=1)",
		],
		limitMs: LIMIT,
	},
	{
		name: "editors, pagers, prompts and the terminal",
		cells: [
			"%%bash\nmkdir -p g && cd g && git init -q . && git commit --allow-empty || echo refused\nman ls | head -1; yes | head -500 | $PAGER | tail -1\nread -t 600 answer < /dev/tty; read answer; echo over",
			"%%bash\npython3 -c 'import getpass; getpass.getpass()' ; python3 -c 'input()'; ssh-keygen -f key < /dev/null; sudo -n true; echo over",
			"input('name')",
			"open('/dev/tty').read()",
			"import pdb\npdb.set_trace()\nx = 1",
			"help()",
		],
		limitMs: 30_000,
		says: /over[\s\S]*over[\s\S]*nobody can type here/,
		never: /ran longer/,
	},
	{
		name: "editors that are opened outright",
		cells: ["!vi note.txt", "%%bash\nnano note.txt; vim note.txt || vi note.txt", "'goes on'"],
		limitMs: 30_000,
		says: /goes on/,
		never: /ran longer/,
	},
	{
		name: "a script that ignores every signal it can and starts anew what was killed",
		cells: ["%%bash\ntrap '' INT TERM HUP QUIT\nfor i in $(seq 200); do (trap '' INT TERM; sleep 600) & wait; done"],
		limitMs: LIMIT,
		says: /was interrupted/,
	},
	{
		name: "an end that never comes: atexit, finalisers and threads that wait",
		cells: [
			"import atexit, time, threading\natexit.register(time.sleep, 600)\nclass D:\n    def __del__(self): time.sleep(600)\nd = D()\nthreading.Thread(target=time.sleep, args=(600,)).start()",
		],
	},
	{
		name: "an end that catches SystemExit and every signal",
		cells: [
			"import atexit, signal\ndef on():\n    while True:\n        try:\n            while True: pass\n        except BaseException: pass\natexit.register(on)\nfor n in (1, 2, 3, 15): signal.signal(n, lambda *_: None)",
		],
	},
	{
		name: "locks of the program held for good",
		cells: [
			"import threading, logging, sys\nlogging._lock.acquire()\nimport _imp\n_imp.acquire_lock()\nlock = threading.Lock()\nlock.acquire()",
			"1 + 1",
			"lock.acquire()",
		],
		limitMs: LIMIT,
		says: /2\n[\s\S]*was interrupted/,
	},
	{
		name: "an event loop that is stopped, closed and emptied",
		cells: [
			"import asyncio\nasyncio.get_running_loop().stop()\nawait asyncio.sleep(0.01)",
			"import asyncio\nfor t in asyncio.all_tasks(): t.cancel()\nawait asyncio.sleep(0.01)",
			"import asyncio\nasyncio.get_event_loop().call_soon(lambda: 1/0)\nawait asyncio.sleep(0.01, 'goes on')",
		],
		limitMs: 10_000,
		says: /goes on/,
		never: /ran longer/,
	},
	{
		name: "an event loop that is closed under the kernel",
		cells: [
			"import asyncio\nloop = asyncio.get_running_loop()\nloop._closed = True",
			"import asyncio\nasyncio.get_event_loop().close()",
		],
		limitMs: LIMIT,
		mayKill: true,
	},
	{
		name: "a cell that waits for another request that never comes",
		cells: ["import rlm\nrlm.host_request_sync('no.such.thing')", "await rlm.host_request('goal.get', {'x': 1})"],
		limitMs: 30_000,
		never: /ran longer/,
	},
];
