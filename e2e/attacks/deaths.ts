import type { Attack } from "./attack.ts";

/** Cells that end processes, multiply them, or keep them alive. */
export const DEATHS: readonly Attack[] = [
	{ name: "os._exit", cells: ["import os\nos._exit(0)"], mayKill: true, says: /exit code 0/ },
	{ name: "a segmentation fault", cells: ["import ctypes\nctypes.string_at(0)"], mayKill: true, says: /SIGSEGV/ },
	{ name: "an abort", cells: ["import os\nos.abort()"], mayKill: true, says: /SIGABRT/ },
	{
		name: "a recursion past the end of the stack",
		cells: ["import sys\nsys.setrecursionlimit(10**6)\na = []\nfor _ in range(300_000): a = [a]\nrepr(a)"],
		mayKill: true,
		inSuite: false,
		kernelMb: false,
	},
	{ name: "SIGKILL to its own group", cells: ["import os\nos.killpg(0, 9)"], mayKill: true, says: /SIGKILL/ },
	{
		name: "SIGKILL to the guardian, with jobs that nobody then watches",
		cells: [
			"%%bash\nsleep 6001 & setsid sleep 6002 &\ntrue",
			"import os\nos.kill(os.getppid(), 9)\nimport time\ntime.sleep(600)",
		],
		mayKill: true,
	},
	{
		name: "SIGSTOP to the guardian",
		cells: ["import os, signal\nos.kill(os.getppid(), signal.SIGSTOP)", "1 + 1"],
		says: /2/,
		inSuite: false,
	},
	{
		name: "every catchable signal to itself",
		cells: [1, 2, 3, 10, 12, 13, 14, 15, 17, 20, 21, 22, 28].map(
			(number) => `import os, time\nos.kill(os.getpid(), ${number})\ntime.sleep(0.05)`,
		),
		mayKill: true,
		limitMs: 2500,
		inSuite: false,
	},
	{
		name: "signals to the whole group, while a cell runs",
		cells: [
			"import os, signal, time\nfor n in (signal.SIGHUP, signal.SIGPIPE, signal.SIGCHLD, signal.SIGWINCH):\n    os.killpg(0, n)\n    time.sleep(0.02)",
		],
		mayKill: true,
	},
	{
		name: "two hundred children that sleep",
		cells: ["import subprocess\np = [subprocess.Popen(['sleep', '6003']) for _ in range(200)]"],
	},
	{
		name: "children without an environment in sessions of their own",
		cells: [
			"import subprocess\nfor _ in range(5): subprocess.Popen(['sleep', '6004'], env={}, start_new_session=True)",
			"%%bash\nenv -i setsid -f sleep 6005\n(env -i setsid sh -c '(sleep 6006 &) & sleep 6007 &' &) &\ntrue",
		],
	},
	{
		name: "daemons that hold the pipe of their command",
		cells: [
			"%%bash\nfor i in 1 2 3; do (setsid sh -c '(trap \"\" TERM HUP INT; while :; do sleep 1; done) &' &); done; echo started",
			"x = !setsid sleep 6008 &\nlen(x)",
		],
		says: /started[\s\S]*0/,
	},
	{
		name: "a daemon that forks, changes its session and loses its mark",
		cells: [
			"import os\ndel os.environ['PRIME_AGENT_KERNEL_ID']\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        os.execve('/bin/sleep', ['sleep', '6009'], {})\n    os._exit(0)",
		],
	},
	{
		name: "processes that fork on while they are ended",
		cells: [
			"import os, time\nif os.fork() == 0:\n    for n in range(400):\n        if os.fork():\n            os._exit(0)\n        os.setsid()\n        time.sleep(0.02)\n    os._exit(0)",
		],
	},
	{
		name: "a fork bomb of bounded size",
		cells: [
			"%%bash\nbomb() { if [ $1 -gt 0 ]; then bomb $(($1 - 1)) & bomb $(($1 - 1)) & fi; sleep 6010; }\nbomb 6 &\ntrue",
		],
	},
	{
		name: "five hundred children that nobody collects",
		cells: ["import os\nfor _ in range(500):\n    if os.fork() == 0: os._exit(0)"],
	},
	{
		name: "forked children that answer in the kernel's place",
		cells: ["import os\nfor _ in range(3): os.fork()\nos.getpid()", "import os, sys\nif os.fork() == 0: sys.exit()\n1"],
	},
	{
		name: "a child that is stopped",
		cells: ["%%bash\nsh -c 'kill -STOP $$; sleep 6011' &\nsetsid sh -c 'kill -STOP $$' &\ntrue"],
	},
	{
		name: "a thousand threads",
		cells: [
			"import threading, time\nfor _ in range(1000): threading.Thread(target=time.sleep, args=(600,), daemon=True).start()",
		],
	},
	{
		name: "every descriptor in use",
		cells: [
			"import resource\nresource.setrlimit(resource.RLIMIT_NOFILE, (1024, 1024))\nkept = []\ntry:\n    while True: kept.append(open('/dev/null'))\nexcept OSError as e: print(e)",
			"%%bash\necho no",
			"print('x' * 300_000)",
			"kept.clear()",
			"!echo again",
		],
		says: /Too many open files[\s\S]*again/,
	},
	{
		name: "limits of the process",
		cells: [
			"import resource as r\nr.setrlimit(r.RLIMIT_FSIZE, (1000, 1000))\nprint('x' * 300_000)",
			"import resource as r\nr.setrlimit(r.RLIMIT_NOFILE, (16, 16))\n!echo small",
			"import resource as r\nr.setrlimit(r.RLIMIT_CORE, (0, 0))\nr.setrlimit(r.RLIMIT_STACK, (1 << 20, 1 << 20))\n1",
		],
	},
	{
		name: "more memory than there may be",
		cells: [
			"import resource as r\nsize = int(open('/proc/self/statm').read().split()[0]) * 4096\nr.setrlimit(r.RLIMIT_AS, (size + (200 << 20), -1))\nhog = []\nwhile True: hog.append(bytearray(1 << 20))",
			"hog.clear()\n'free'",
		],
		says: /MemoryError[\s\S]*free/,
		kernelMb: 400,
	},
	{
		name: "no processor time left",
		cells: ["import resource as r\nr.setrlimit(r.RLIMIT_CPU, (1, 1))\nwhile True: pass"],
		mayKill: true,
		says: /SIGXCPU|SIGKILL/,
	},
];
