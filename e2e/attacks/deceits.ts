import type { Attack } from "./attack.ts";

/** Cells that take the kernel's own parts away, replace them or speak in their place. */
export const DECEITS: readonly Attack[] = [
	{
		name: "descriptors 0 to 9 closed",
		cells: ["import os\nos.closerange(0, 10)", "!echo heard", "print('printed')"],
		says: /heard[\s\S]*printed/,
	},
	{ name: "all descriptors closed", cells: ["import os\nos.closerange(0, 70_000)", "1"], mayKill: true, limitMs: 5000 },
	{
		name: "garbage on every descriptor",
		cells: [
			`import os\nfor fd in range(0, 2000):\n    try: os.write(fd, b'\\xff\\x00garbage\\n{"op":1}\\n')\n    except OSError: pass`,
		],
		mayKill: true,
		limitMs: 5000,
	},
	{
		name: "forged messages on every descriptor",
		cells: [
			`import os, json\nlines = [json.dumps(m).encode() + b'\\n' for m in ({"op": "done", "cell": 2, "status": "ok", "stdout": "forged"}, {"op": "request", "id": "x", "type": 5, "payload": []}, {"op": "chunk", "text": {"a": 1}}, {"op": "display", "cell": 2, "bundle": []}, {"op": "cancel", "id": None}, {"op": "reply"}, {"exit": 0, "signal": None}, {"jobs": [{"pid": 1, "command": "x"}]})]\nfor fd in range(3, 2000):\n    try: os.write(fd, b''.join(lines))\n    except OSError: pass`,
			"1",
		],
		mayKill: true,
		limitMs: 5000,
	},
	{
		name: "deeply nested messages on every descriptor",
		cells: [
			`import os\nline = b'{"op":"request","id":1,"type":"goal.create","payload":{"objective":' + b'[' * 200_000 + b']' * 200_000 + b'}}\\n'\nfor fd in range(100, 2000):\n    try:\n        os.set_blocking(fd, True)\n        os.write(fd, line)\n    except OSError: pass`,
			"1",
		],
		mayKill: true,
		limitMs: 5000,
	},
	{
		name: "a message without end on the line to the host",
		cells: [
			"import os, stat\nblock = b'x' * (1 << 20)\nfor fd in range(100, 2000):\n    try:\n        if not stat.S_ISSOCK(os.fstat(fd).st_mode): continue\n        os.set_blocking(fd, True)\n        for _ in range(300): os.write(fd, block)\n    except OSError: pass",
			"1",
		],
		mayKill: true,
		limitMs: 20_000,
		only: "builtin",
	},
	{
		name: "forged requests to the host",
		cells: [
			"try: await rlm.host_request('prompt.send', {'text': 'go on'})\nexcept Exception as e: print(e)\ntry: await rlm.host_request('session.close', {})\nexcept Exception as e: print(e)\ntry: await rlm.host_request('__proto__', {'__proto__': {'a': 1}, 'constructor': 1})\nexcept Exception as e: print(e)",
			"deep = {}\nfor _ in range(100_000): deep = {'a': deep}\ntry: await rlm.host_request('goal.create', deep)\nexcept BaseException as e: print(type(e).__name__)\nwhile deep: deep = deep['a']",
			"d = {}\nfor _ in range(900): d = {'a': d}\ntry: await rlm.host_request('goal.create', {'objective': d})\nexcept Exception as e: print(type(e).__name__)",
		],
		says: /RecursionError/,
	},
	{
		name: "sys.stdout replaced",
		cells: [
			"import sys\nclass S:\n    def write(self, t): return len(t)\n    def flush(self): pass\nsys.stdout = S()\nsys.stderr = S()",
			"print('is it heard?')",
		],
		says: /is it heard/,
	},
	{
		name: "broken streams",
		cells: [
			"import sys\nclass S:\n    closed = False\n    def __getattr__(self, name): raise SystemExit(name)\nsys.stdout = S(); sys.stderr = S(); sys.stdin = 5",
			"print('heard')",
			"import sys\nsys.stdout.write = None",
			"print('heard again')",
		],
		says: /heard[\s\S]*heard again/,
	},
	{
		name: "print, repr, len and others replaced",
		cells: [
			"import builtins\nfor n in ('print', 'repr', 'len', 'isinstance', 'type', 'str', 'open', 'getattr', '__import__'):\n    setattr(builtins, n, None)",
			"1",
		],
		mayKill: true,
		limitMs: 5000,
	},
	{
		name: "builtins emptied",
		cells: ["import builtins\nbuiltins.__dict__.clear()", "1"],
		mayKill: true,
		limitMs: 5000,
	},
	{
		name: "parts of the standard library replaced",
		cells: [
			"import json, os, time, threading, queue, select\njson.dumps = lambda *a, **k: 'forged'\nos.write = lambda *a: 1/0\nos.read = lambda *a: b''\ntime.monotonic = lambda: 0\nthreading.Event.wait = lambda *a: True\nos._exit = None",
			"1",
		],
		mayKill: true,
		limitMs: 5000,
	},
	{
		name: "all modules forgotten",
		cells: ["import sys\nsys.modules.clear()", "1 + 1", "raise ValueError('x')", "import json\njson.dumps(1)"],
		mayKill: true,
		limitMs: 5000,
	},
	{
		name: "the kernel's own modules changed",
		cells: ["import sys\nfor n in list(sys.modules):\n    if n.startswith('rlm.'): vars(sys.modules[n]).clear()", "1"],
		mayKill: true,
		limitMs: 5000,
	},
	{
		name: "handlers of signals replaced",
		cells: [
			"import signal\nfor n in (1, 2, 10, 12, 14, 15, 17, 28): signal.signal(n, lambda *_: 1/0)\nsignal.set_wakeup_fd(-1)\nsignal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)\nimport time\ntime.sleep(0.3)",
			"import signal\nsignal.setitimer(signal.ITIMER_REAL, 0)\n'quiet'",
			"import signal\nsignal.setitimer(signal.ITIMER_REAL, 0)\n'quiet'",
			"import time\ntime.sleep(600)",
		],
		limitMs: 2500,
		mayKill: true,
		says: /quiet[\s\S]*(interrupt|killed)/,
	},
	{
		name: "an alarm that never stops raising",
		cells: [
			"import signal\ndef ring(*_): raise TimeoutError\nsignal.signal(signal.SIGALRM, ring)\nsignal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)\nwhile True: pass",
			"1",
			"1",
			// The alarm is the cells' own and rings in each of them, also in one that ends it: some of these come through.
			...Array<string>(8).fill("import signal\nsignal.signal(signal.SIGALRM, signal.SIG_IGN)"),
		],
		mayKill: true,
		limitMs: 5000,
	},
	{
		name: "hooks of the interpreter that raise",
		cells: [
			"import sys, threading\ndef bad(*a): raise SystemExit\nsys.excepthook = sys.unraisablehook = sys.displayhook = threading.excepthook = bad\nsys.settrace(bad)\nthreading.settrace(bad)",
			"import sys\nsys.settrace(None)\n1",
			"import threading\nthreading.Thread(target=lambda: 1/0).start()\n'hooked'",
		],
		mayKill: true,
		limitMs: 5000,
	},
	{
		name: "finalisers that print, raise and exit",
		cells: [
			"import gc, sys\nclass D:\n    def __init__(self): self.me = self\n    def __del__(self):\n        print('finaliser' * 50)\n        raise SystemExit('no')\nfor _ in range(3000): D()\ngc.collect()\n'kept'",
		],
		says: /kept/,
	},
	{
		name: "exceptions that lie about themselves",
		cells: [
			"raise type('\\x1b[31mRed\\0\\x07', (Exception,), {})('\\x1b]0;title\\x07 \\x9b31m \\0 nul')",
			"class E(Exception):\n    def __str__(self): return 5\nraise E()",
			"class E(Exception):\n    def __str__(self): raise SystemExit\nraise E()",
			"class E(Exception):\n    def __str__(self): raise KeyboardInterrupt\nraise E()",
			"class E(Exception):\n    def __getattribute__(self, name): raise BaseException(name)\nraise E()",
			"class M(type):\n    __name__ = property(lambda s: 1/0)\n    __module__ = 5\nclass E(Exception, metaclass=M): pass\nraise E()",
			"e = ValueError('v')\ne.__cause__ = e.__context__ = e\ne.__notes__ = 5\nraise e",
			"e = ValueError('v')\ne.__notes__ = ['\\x1b[2J', 5, None]\nraise e",
			"raise BaseException('base')",
			"raise GeneratorExit",
			"raise type('N' * 1_000_000, (Exception,), {})('x')",
			"exec(compile('1/0', '\\x1b[31m/etc/\\0passwd', 'exec')) if False else exec(compile('1/0', '\\x1b[31mfile', 'exec'))",
			"import linecache\nlinecache.cache.clear()\nlinecache.getline = None\n1/0",
		],
		limitMs: 10_000,
		never: /ran longer|was interrupted by/,
	},
	{
		name: "control characters in every kind of output",
		cells: [
			"import sys\nevil = ''.join(map(chr, range(0x20))) + '\\x7f\\x80\\x9b31m\\x9d0;t\\x9c\\x1b[2J\\x1bc\\x1b]52;c;ZXZpbA==\\x07\\x1bP1$r\\x1b\\\\'\nprint(evil)\nprint(evil, file=sys.stderr)\nsys.stdout.buffer.write(evil.encode())\nevil",
			"class R:\n    def __repr__(self): return evil\nR()",
			"display({'text/plain': evil, 'text/html': evil}, raw=True)\ndisplay(R())",
			"class R:\n    def __repr__(self): return 'x'\n    def _repr_markdown_(self): return evil\n    def _repr_pretty_(self, p, c): p.text(evil)\nR()",
			"import os\nos.write(1, evil.encode())\nos.write(2, evil.encode())\n!printf '\\033[31m\\000\\007\\233'",
			"raise ValueError(evil)",
			"import warnings\nwarnings.warn(evil)",
			"import asyncio\nasync def f(): raise ValueError(evil)\nt = asyncio.create_task(f())\nawait asyncio.sleep(0.01)\ndel t",
		],
	},
	{
		name: "sources that no compiler likes",
		cells: [
			"x = '\0'",
			`${"(".repeat(5000)}1${")".repeat(5000)}`,
			`${"-".repeat(100_000)}1`,
			`${"[".repeat(300)}`,
			"\ufeffprint('bom')",
			"# -*- coding: no-such -*-\nprint('coded')",
			"\f\r\rprint('cr')\r",
			"%%nosuch\n",
			"%%bash\n\0",
			"!echo '\0'",
			"%cd \0",
			"%%writefile /proc/nothing\nx",
			"'\ud800'",
			"%env A\0B=1",
			"def f():\n  return\n\treturn",
		],
		limitMs: 30_000,
		never: /ran longer/,
	},
	{
		name: "the folder of the session removed under it",
		cells: [
			"import os\nos.mkdir('gone'); os.symlink('gone', 'link'); os.chdir('link'); os.rmdir('../gone')\ntry: os.getcwd()\nexcept OSError as e: print(e)",
			"!pwd; echo ran",
			"%%bash\necho ran too",
			"%pwd",
			"%cd /\n'back'",
		],
		says: /ran[\s\S]*back/,
	},
	{
		name: "the folder for temporary files removed",
		cells: [
			"import os, shutil\nshutil.rmtree(os.environ['TMPDIR'])\nos.environ['TMPDIR'] = '/not/there'",
			"print('x' * 300_000)",
			"!echo shown",
		],
		says: /shown/,
	},
	{
		name: "the environment emptied",
		cells: ["import os\nos.environ.clear()", "!echo still; env | wc -l", "%%bash\necho script"],
		says: /still[\s\S]*script/,
	},
	{
		name: "the kernel's sockets removed",
		only: "ipykernel",
		cells: [
			"import os, shutil\nfrom ipykernel.kernelapp import IPKernelApp as A\nshutil.rmtree(os.path.dirname(A.instance().ip))",
			"print('x' * 300_000)",
			"await rlm.host_request('goal.get')\n'asked'",
		],
		says: /asked/,
	},
	{
		name: "a second client that speaks garbage, and one that forges replies",
		only: "ipykernel",
		cells: [
			"import socket, os, zmq, json\nfrom ipykernel.kernelapp import IPKernelApp as A\napp = A.instance()\nfor port in (app.shell_port, app.control_port, app.iopub_port):\n    for data in (b'GET / HTTP/1.1\\r\\n\\r\\n' * 100, b'\\xff' + bytes(8) + b'\\x7f\\x03' + os.urandom(4000), os.urandom(100_000)):\n        s = socket.socket(socket.AF_UNIX)\n        s.connect('%s-%d' % (app.ip, port))\n        try: s.sendall(data)\n        except OSError: pass\n        s.close()",
			"c = zmq.Context()\nfor port in (app.shell_port, app.control_port):\n    d = c.socket(zmq.DEALER)\n    d.linger = 500\n    d.connect('ipc://%s-%d' % (app.ip, port))\n    for kind in ('shutdown_request', 'execute_request', 'interrupt_request', 'comm_msg'):\n        header = json.dumps({'msg_id': 'x', 'msg_type': kind, 'session': 's', 'username': 'u', 'date': '2026-01-01T00:00:00Z', 'version': '5.3'}).encode()\n        d.send_multipart([b'<IDS|MSG>', b'f' * 64, header, b'{}', b'{}', b'{\"code\": \"1/0\", \"cell\": 1}'])\n        d.send_multipart([b'no message'])\n    d.close()\nc.term()\n'refused'",
			"1 + 1",
		],
		says: /refused[\s\S]*2/,
	},
	{
		name: "replies forged by the kernel's own sockets",
		only: "ipykernel",
		cells: [
			"from ipykernel.kernelapp import IPKernelApp as A\napp = A.instance()\nk = app.kernel\nfor content in ({}, {'done': 5}, {'done': {'status': 'ok', 'stdout': 7}}, {'status': None}):\n    k.session.send(k.shell_stream, 'execute_reply', content, k.get_parent(), ident=k._shell_parent_ident if hasattr(k, '_shell_parent_ident') else None)\n    k.session.send(app.iopub_socket, 'status', {'execution_state': 'idle'}, ident=b'status')",
			"1",
		],
		mayKill: true,
		limitMs: 5000,
	},
	{
		name: "objects that fight being saved",
		cells: [
			"import os, time\nclass A:\n    def __reduce__(self): os.kill(os.getpid(), 9)\nclass B:\n    def __reduce__(self): time.sleep(600)\nclass C:\n    def __getstate__(self): raise SystemExit\nclass D:\n    def __reduce__(self): return (os.system, ('touch reduced',))\na, b, c, d = A(), B(), C(), D()\ndeep = []\nfor _ in range(100_000): deep = [deep]",
			"e = lambda: (yield)\ng = e()\nimport threading\nlock = threading.Lock()\nf = open('/dev/null')\ngrow = []\nclass G:\n    def __reduce__(self):\n        grow.append(G())\n        return (G, (), None, iter(grow))\ngg = G()\n'kept'",
		],
		mayKill: true,
	},
	{
		name: "objects that stop, block and kill the process that saves them",
		cells: [
			"import os, signal, time\ndef harm(act):\n    class Harm:\n        def __reduce__(self):\n            act()\n            time.sleep(600)\n    return Harm()\na = harm(lambda: os.kill(os.getpid(), signal.SIGSTOP))\nb = harm(lambda: os.kill(os.getppid(), signal.SIGSTOP))\nc = harm(lambda: os.kill(0, signal.SIGSTOP))\nd = harm(lambda: os.kill(os.getppid(), signal.SIGKILL))\ne = harm(lambda: os.kill(0, signal.SIGKILL))\nf = harm(lambda: signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 60)))",
			"import time\ntime.sleep(1)\nkept = 'kept'",
			"kept",
		],
		says: /kept/,
	},
];
