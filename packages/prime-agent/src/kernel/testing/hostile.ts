import { readdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { expect } from "vitest";
import type { LeftoverJob } from "../index.ts";
import { type Bench, cells, check, isRunning, type KernelCase, until } from "./bench.ts";

/** Every control character, and the sequences that change a terminal's title, clipboard or screen. */
const EVIL =
	"evil = ''.join(map(chr, range(32))) + '\\x7f\\x80\\x9b31m\\x9d0;t\\x9c\\x1b[2J\\x1bc\\x1b]52;c;ZXZpbA==\\x07\\x1b[31mred\\x1b[0m'\n";
// biome-ignore lint/suspicious/noControlCharactersInRegex: what a terminal would obey
const CONTROLS = /[\0-\x08\x0b-\x1f\x7f-\x84\x86-\x9f]/;

/** Makes orphans until one becomes a child of the guardian, which is ready for others then. */
const UNTIL_ADOPTING = `
import os, time
def parent_of_orphan():
    read, send = os.pipe()
    if os.fork() == 0:
        parent = os.getpid()
        if os.fork() == 0:
            while os.getppid() == parent: time.sleep(0.001)
            os.write(send, b'%d' % os.getppid())
        os._exit(0)
    os.wait()
    return int(os.read(read, 20))
while parent_of_orphan() != os.getppid(): pass
`;

/** The whole result of a cell has no character that a terminal would obey. */
function isTame(what: string, code: string): KernelCase {
	return {
		title: `Control characters in ${what} do not reach the host`,
		run: async (bench) => {
			const cell = await bench.run(EVIL + code);
			const texts = [cell.stdout, cell.stderr, cell.result, cell.error?.name, cell.error?.value];
			const shown = [
				...texts,
				...(cell.error?.traceback ?? []),
				...cell.displays.flatMap((each) => Object.values(each)),
			];
			expect(shown.join("")).toMatch(/red/);
			expect(shown.join("").replaceAll("\n", "")).not.toMatch(CONTROLS);
		},
	};
}

/** The number that a cell wrote into a file. */
async function readPid(bench: Bench, name: string): Promise<number> {
	let text = "";
	await until(`${name} is written`, async () => {
		text = await readFile(`${bench.folder}/${name}`, "utf8").catch(() => "");
		return /^\d+\n$/.test(text);
	});
	return Number(text);
}

/** What code in a cell may try, by mistake or on purpose, without harm to the kernel or its host. */
export const HOSTILE: readonly KernelCase[] = [
	isTame("output", "import sys\nprint(evil); print(evil, file=sys.stderr)"),
	isTame("a value", "class R:\n    def __repr__(self): return evil\nR()"),
	isTame("the name and the message of an error", "raise type(evil.replace('\\0', ''), (Exception,), {})(evil)"),
	isTame("a display", "display({'text/plain': evil, 'text/html': evil}, raw=True)"),
	cells("Colours of a value are taken out", "class R:\n    def __repr__(self): return '\\x1b[31mred\\x1b[0m'\nR()", {
		result: "red",
	}),
	cells(
		"A replaced sys.stdout does not hide the output of later cells, and that it was replaced is said",
		["import sys, io\nsys.stdout = kept = io.StringIO()\nprint('caught')", "print('heard')\nkept.getvalue()"],
		{ stdout: "heard\n", result: "'caught\\n'", stderr: "" },
	),
	cells(
		"A cell that replaces its streams is told so",
		"import sys, io\nsys.stdout = io.StringIO()\nsys.stderr = io.StringIO()",
		{ stderr: "[this cell replaced sys.stdout and sys.stderr: put back for the next one]\n" },
	),
	cells(
		"Closed or replaced standard descriptors do not silence later cells",
		[
			"import os\nos.closerange(0, 10)",
			"import os\nos.system('echo heard')\n!echo too\nos.dup2(os.open('file', os.O_CREAT | os.O_WRONLY), 1)\nos.system('echo away');",
			"import os\nos.system('cat file; echo back; test -r /dev/stdin && cat')\nNone",
		],
		{ stdout: "away\nback\n" },
	),
	cells(
		"A redirection that ends with its block says nothing",
		"import contextlib, io\nwith contextlib.redirect_stdout(io.StringIO()) as f: print('caught')\nf.getvalue()",
		{ stdout: "", stderr: "", result: "'caught\\n'" },
	),
	cells(
		"A stream whose methods were changed is itself again",
		["import sys\nsys.stdout.write = None", "print('whole')"],
		{
			stdout: "whole\n",
		},
	),
	cells(
		"An exception whose class lies about its name is reported",
		"class M(type):\n    __name__ = property(lambda s: 1/0)\nclass Liar(Exception, metaclass=M): pass\nraise Liar('x')",
		{ error: /^Liar: / },
	),
	cells(
		"An exception whose message ends the program is reported",
		"class E(Exception):\n    def __str__(self): raise SystemExit('no')\nraise E()",
		{ error: /^E: <its message could not be made: SystemExit>/ },
	),
	cells(
		"An exception with a message of ten megabytes and thousands of notes is short",
		"e = ValueError('m' * 10_000_000)\ne.__notes__ = ['n' * 5000] * 5000\nraise e",
		{ error: /^ValueError: m+\.\.\. \(10000000 characters\)$/, traceback: /^[\s\S]{1,900000}$/ },
	),
	cells(
		"A chain of five thousand causes is short",
		"e = None\nfor i in range(5000):\n    n = ValueError(str(i))\n    n.__cause__ = e\n    e = n\nraise e",
		{ error: "ValueError: 4999", traceback: /lines in the middle are left out/ },
	),
	{
		title: "Control characters in what a kernel says at its death do not reach the host",
		run: async (bench) => {
			const cell = await bench.run(
				"import os\nstderr = os.readlink('/proc/%d/fd/2' % os.getppid())\nfor fd in map(int, os.listdir('/proc/self/fd')):\n    try:\n        if fd > 2 and os.readlink('/proc/self/fd/%d' % fd) == stderr: os.write(fd, b'\\x1b]0;evil\\x07\\n')\n    except OSError: pass\nos._exit(3)",
			);
			expect(cell.error?.value).toMatch(/exit code 3[\s\S]*\ufffd]0;evil\ufffd/);
		},
	},
	{
		title: "A cell that cancels all tasks, or stops the loop, costs no kernel",
		run: async (bench) => {
			await bench.run("import asyncio\nawait asyncio.sleep(0)");
			const pid = bench.kernel.info()?.pid;
			check(
				await bench.run(
					"for t in asyncio.all_tasks() - {asyncio.current_task()}: t.cancel()\nawait asyncio.sleep(0.05, 'goes on')",
				),
				{ result: "'goes on'" },
			);
			expect((await bench.run("for t in asyncio.all_tasks(): t.cancel()\nawait asyncio.sleep(1)")).status).not.toBe(
				"ok",
			);
			check(await bench.run("asyncio.get_running_loop().stop()\nawait asyncio.sleep(0.05, 'still')"), {
				result: "'still'",
			});
			expect(bench.kernel.info()?.pid).toBe(pid);
		},
	},
	{
		title: "A cell whose end cannot be told costs its kernel and blocks nobody",
		run: async (bench) => {
			await bench.run("import rlm.trace, sys\nvars(sys.modules['rlm.trace']).clear()");
			expect((await bench.run("1/0")).status).toBe("dead");
			check(await bench.run("'new'"), { result: "'new'" });
		},
	},
	{
		title: "A cell that uses up all descriptors costs only what needs one, until it gives them back",
		run: async (bench) => {
			await bench.run(
				"import resource\nresource.setrlimit(resource.RLIMIT_NOFILE, (1024, 1024))\nkept = []\ntry:\n    while True: kept.append(open('/dev/null'))\nexcept OSError: pass",
			);
			expect((await bench.run("%%bash\necho no")).status).toBe("error");
			check(await bench.run("print('x' * 300_000)"), { stdout: /it could not be kept whole: .*Too many open files/ });
			await bench.run("kept.clear()");
			check(await bench.run("!echo again"), { stdout: "again\n" });
		},
	},
	{
		title: "A message that never ends is stopped by an interrupt, and the variables are kept",
		run: async (bench) => {
			const kernel = bench.open({ settings: { cellTimeoutMs: 700 } });
			await kernel.execute("kept = 'kept'");
			const cell = await kernel.execute(
				"class E(Exception):\n    def __str__(self):\n        while True: pass\nraise E()",
			);
			check(cell, { status: "timeout", error: /Variables are kept/ });
			check(await kernel.execute("kept"), { result: "'kept'" });
		},
	},
	{
		title: "A request of more than ten megabytes is refused in the cell, and the next one works",
		run: async (bench) => {
			bench.kernel.serve(async () => "fine");
			check(await bench.run("await rlm.host_request('x', {'a': 'b' * 11_000_000})"), {
				error: /ValueError: .*at most 10 MB/,
			});
			check(await bench.run("await rlm.host_request('x')"), { result: "'fine'" });
		},
	},
	cells(
		"A display of characters that take six bytes each is measured as it is sent",
		"display({'text/html': '\\u4e2d' * 2_000_000}, raw=True)",
		{ stdout: /^\[a display of \d+ bytes was left out/, displays: [] },
	),
	{
		title: "Processes without an environment, group or parent end with their kernel",
		run: async (bench) => {
			const reported: LeftoverJob[] = [];
			const kernel = bench.open({ onLeftovers: (jobs) => reported.push(...jobs) });
			await kernel.execute(UNTIL_ADOPTING);
			await kernel.execute("%%bash\nenv -i setsid sh -c 'sleep 6601 & echo $! > bare'");
			await kernel.execute(
				"import os\nif os.fork() == 0:\n    os.setsid()\n    pid = os.fork()\n    if pid: open('daemon', 'w').write('%d\\n' % pid)\n    else: os.execve('/bin/sleep', ['sleep', '6602'], {})\n    os._exit(0)",
			);
			const pids = [await readPid(bench, "bare"), await readPid(bench, "daemon")];
			const commandOf = (pid: number) => readFile(`/proc/${pid}/cmdline`, "utf8");
			for (const pid of pids) await until("it sleeps", async () => (await commandOf(pid)).startsWith("sleep\0"));
			await kernel.dispose();
			expect(await Promise.all(pids.map(isRunning))).toEqual([false, false]);
			expect(reported.map((job) => job.command).sort()).toEqual(["sleep 6601", "sleep 6602"]);
		},
	},
	{
		title: "A process that was started in a session of its own without the mark outlives its kernel",
		run: async (bench) => {
			await bench.run(UNTIL_ADOPTING);
			await bench.run(
				"%%bash\nenv -u PRIME_AGENT_KERNEL_ID setsid sh -c 'echo $$ > free; sleep 6604; true' > /dev/null 2>&1 &",
			);
			const free = await readPid(bench, "free");
			await bench.kernel.dispose();
			expect(await isRunning(free)).toBe(true);
			process.kill(-free, "SIGKILL");
		},
	},
	{
		title: "Processes of a kernel whose guardian was killed are ended and reported",
		run: async (bench) => {
			const reported: LeftoverJob[] = [];
			const kernel = bench.open({ onLeftovers: (jobs) => reported.push(...jobs) });
			await kernel.execute("print('x' * 300_000)\n!setsid sleep 6603 & echo $! > job");
			const folders = () => readdirSync(bench.folder).filter((name) => name.startsWith("prime-agent-kernel-"));
			expect(folders()).toHaveLength(1);
			const job = await readPid(bench, "job");
			const cell = await kernel.execute("import os, time\nos.kill(os.getppid(), 9)\ntime.sleep(600)");
			expect(cell.status).toBe("dead");
			await kernel.dispose();
			expect(await isRunning(job)).toBe(false);
			expect(reported.map(({ pid }) => pid)).toContain(job);
			expect(folders()).toEqual([]);
		},
	},
	{
		title: "The death of a kernel whose guardian is stopped is noticed",
		run: async (bench) => {
			const cell = await bench.run(
				"import os, signal\nos.kill(os.getppid(), signal.SIGSTOP)\nos.kill(os.getpid(), signal.SIGKILL)",
			);
			expect(cell.status).toBe("dead");
			check(await bench.run("'new'"), { result: "'new'" });
		},
	},
	{
		title: "A mark of an outer kernel is kept beside the own one",
		run: async (bench) => {
			const { env } = bench.options();
			const kernel = bench.open({ env: { ...env, PRIME_AGENT_KERNEL_ID: "1-outer" } });
			check(await kernel.execute("!echo $PRIME_AGENT_KERNEL_ID"), { stdout: /^1-outer:\d+-[0-9a-f]{16}\n$/ });
		},
	},
];
