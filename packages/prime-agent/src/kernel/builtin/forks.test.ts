import { existsSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { connect } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Kernel } from "../index.ts";
import { findRuntime } from "../runtime.ts";
import { Bench, check, findLack, isRunning, until } from "../testing/bench.ts";
import { ForkServer } from "./fork-server.ts";

const lacks = await findLack("ipykernel");

/** Fields of `/proc/<pid>/stat` after the name; see proc(5). */
function parentOf(pid: number): number {
	const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
	return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
}

/** Where a descriptor leads; nothing when it is closed meanwhile. */
function readLink(path: string): readonly string[] {
	try {
		return [readlinkSync(path)];
	} catch {
		return [];
	}
}

/** The fork server that a kernel comes from, or undefined. */
function serverOf(kernel: Kernel): number | undefined {
	const server = parentOf(parentOf(kernel.info()?.pid ?? 0));
	return readFileSync(`/proc/${server}/cmdline`, "utf8").includes("--forks=") ? server : undefined;
}

describe.skipIf(lacks)(`forked kernels${lacks ? " (left out: no Python has ipykernel)" : ""}`, () => {
	let bench: Bench;

	beforeEach(async () => {
		bench = await Bench.create("ipykernel", "forks");
	});
	afterEach(() => bench.close());

	/** The result of a cell of another kernel, whose options may differ. */
	async function open(more: Parameters<Bench["open"]>[0] = {}): Promise<Kernel> {
		const kernel = bench.open(more);
		check(await kernel.execute("1"), { result: "1" });
		return kernel;
	}

	/** What a cell prints in a kernel that was started from nothing and in one that was forked. */
	async function compare(code: string): Promise<readonly string[]> {
		const [plain, forked] = [await open(), await open()];
		expect([serverOf(plain), serverOf(forked)]).toEqual([undefined, expect.any(Number)]);
		const cells = [await plain.execute(code), await forked.execute(code)];
		for (const cell of cells) check(cell, {});
		return cells.map((cell) => cell.stdout);
	}

	it("the first kernel is started from nothing, those beside and after it come from one server", async () => {
		const first = await open();
		const second = await open();
		const [third, fourth] = await Promise.all([open(), open()]);
		await first.execute("import os\nos.kill(os.getpid(), 9)");
		check(await first.execute("2"), { result: "2" });
		const server = serverOf(second);
		expect(server).toBeGreaterThan(1);
		expect([third, fourth, first].map(serverOf)).toEqual([server, server, server]);
	});

	it("each has its own numbers by chance, names of files, mark and key", async () => {
		await open();
		const [one, other] = [await open(), await open()];
		const code =
			"import os, random, tempfile, uuid\nfrom ipykernel.kernelapp import IPKernelApp as A\nprint(random.random(), uuid.uuid4(), uuid.uuid1(), next(tempfile._get_candidate_names()), os.environ['PRIME_AGENT_KERNEL_ID'], A.instance().session.key, A.instance().session.session)";
		const [left, right] = [await one.execute(code), await other.execute(code)].map((cell) => cell.stdout.split(" "));
		expect(left).toHaveLength(7);
		expect(left?.filter((word) => right?.includes(word))).toEqual([]);
	});

	it("each has the environment, folder and arguments of its own session", async () => {
		await open();
		await mkdir(`${bench.folder}/other`);
		const { env } = bench.options();
		const code =
			"import os, sys, subprocess\nprint(os.getcwd(), os.environ.get('OWN'), subprocess.run('echo $OWN; pwd', shell=True, capture_output=True, text=True).stdout.split(), sys.argv)";
		const one = await open({ env: { ...env, OWN: "one" } });
		const other = await open({ cwd: `${bench.folder}/other` });
		expect((await one.execute(code)).stdout).toBe(`${bench.folder} one ['one', '${bench.folder}'] ['']\n`);
		const there = `${bench.folder}/other`;
		expect((await other.execute(code)).stdout).toBe(`${there} None ['${there}'] ['']\n`);
		expect(serverOf(one)).toBe(serverOf(other));
	});

	it("each has the skills and the bounds of output of its own session", async () => {
		await open();
		const [usual, bounded] = [await open(), await open({ limits: { keep: 1000 } })];
		const lengths = async (kernel: Kernel) => (await kernel.execute("print('x' * 5000)")).stdout.length;
		expect([await lengths(usual), (await lengths(bounded)) < 2000]).toEqual([5001, true]);
		check(await bounded.execute("edit"), { result: "<skill edit: await edit(...)>" });
	});

	it("it leads its own session and process group and has no terminal, as one that was started from nothing", async () => {
		const [plain, forked] = await compare(
			"import os\nkept = os.getpid()\nprint(os.getsid(0) == kept, os.getpgid(0) == kept, os.getsid(os.getppid()) == os.getppid())\ntry: open('/dev/tty')\nexcept OSError as error: print(error.strerror)",
		);
		expect(forked).toBe(plain);
		expect(forked).toMatch(/^True True True\n/);
	});

	it("it has the signal handlers, masks and limits of one that was started from nothing", async () => {
		const [plain, forked] = await compare(
			"import os, re, resource, signal, sys, threading\nprint([(int(s), re.sub('0x\\\\w+', '', str(signal.getsignal(s)))) for s in signal.valid_signals() if s not in (9, 19)])\nprint(signal.pthread_sigmask(signal.SIG_BLOCK, []), os.umask(0o22), resource.getrlimit(resource.RLIMIT_NOFILE), os.nice(0))\nprint(re.findall('Sig(?:Blk|Ign|Cgt).*', open('/proc/self/status').read()))\nprint(sorted(t.name for t in threading.enumerate()), sys.flags, sys.getswitchinterval(), __import__('gc').isenabled())",
		);
		expect(forked).toBe(plain);
		expect(forked).toMatch(/ True\n$/);
	});

	it("it and its guardian hold the descriptors of those that were started from nothing", async () => {
		const code =
			"import os, re\nfor pid in (os.getpid(), os.getppid()):\n    kinds = []\n    for fd in os.listdir('/proc/%d/fd' % pid):\n        try: kinds.append(re.sub('[0-9]+', '', os.readlink('/proc/%d/fd/%s' % (pid, fd))))\n        except OSError: pass\n    print(sorted(kinds))";
		const [plain, forked] = (await compare(code)).map((text) => text.split("\n"));
		expect(forked?.[0]).toBe(plain?.[0]);
		// and a file that IPython opens when it is loaded
		expect(forked?.[1]).toBe(plain?.[1]?.replace("['/dev/null'", "['/dev/null', '/dev/null'"));
	});

	it("it has loaded what one that was started from nothing has loaded", async () => {
		const [plain, forked] = await compare(
			"import sys\nprint(sorted(n for n in sys.modules if n != '__main__'), sys.path)",
		);
		const more = ["rlm.fork_server", "rlm.session"];
		const names = (text: string | undefined) =>
			text
				?.replaceAll("'", "")
				.replace(/^\[|\].*\n$/g, "")
				.split(", ") ?? [];
		expect(names(forked).filter((name) => !names(plain).includes(name))).toEqual(more);
	});

	it("the server has one thread and holds nothing but its line and what wakes it", async () => {
		await open();
		const server = serverOf(await open()) ?? 0;
		expect(readdirSync(`/proc/${server}/task`)).toHaveLength(1);
		const linksOf = (pid: number) => readdirSync(`/proc/${pid}/fd`).flatMap((fd) => readLink(`/proc/${pid}/fd/${fd}`));
		// what this process was started with is handed on to all that it starts
		const inherited = linksOf(process.pid);
		const own = linksOf(server).filter((link) => link !== "/dev/null" && !inherited.includes(link));
		expect(own.map((link) => link.replace(/\d+/g, "")).sort()).toEqual(["pipe:[]", "pipe:[]", "socket:[]"]);
	});

	it("kernels live on when their server is killed, are ended with all they started, and the next starts from nothing", async () => {
		await open();
		const forked = await open();
		const server = serverOf(forked) ?? 0;
		await forked.execute("%%bash\nsleep 600 & echo $! > job");
		const job = Number(readFileSync(`${bench.folder}/job`, "utf8"));
		process.kill(server, "SIGKILL");
		await until("the server is gone", async () => !(await isRunning(server)));
		check(await forked.execute("40 + 2"), { result: "42" });
		const next = await open();
		expect(serverOf(next)).toBeUndefined();
		expect(readdirSync(bench.folder).filter((name) => name.startsWith("prime-agent-forks-"))).toEqual([]);
		const pids = [forked.info()?.pid ?? 0, parentOf(forked.info()?.pid ?? 0)];
		await forked.dispose();
		for (const pid of [...pids, job]) expect(await isRunning(pid)).toBe(false);
	});

	it("the end of a guardian is noticed while its server lives, and when it was killed before", async () => {
		const python = (await open()).info()?.python ?? "";
		const { env, cwd } = bench.options();
		const program = {
			python,
			words: ["-X", "utf8", "-I", `${findRuntime()}/rlm/__main__.py`],
			env: { ...env } as Record<string, string>,
		};
		const server = ForkServer.start(program);
		const ask = { cwd, env: program.env, words: ["--backend=ipykernel"], signal: new AbortController().signal };
		const guardians = [await server?.fork(ask), await server?.fork(ask)];
		for (const guardian of guardians) {
			guardian?.signal("SIGKILL");
			await guardian?.exited;
			// the kernel ends with its line
			for (const line of [guardian?.wire, guardian?.report, guardian?.stderr]) line?.destroy();
			await guardian?.closed;
			await server?.close();
		}
		expect(guardians).toEqual([expect.anything(), expect.anything()]);
		expect(await server?.fork(ask)).toBeUndefined();
	});

	it("a forked kernel that dies is told with the signal, and what it said last", async () => {
		await open();
		const forked = await open();
		const cell = await forked.execute("import faulthandler\nfaulthandler._sigsegv()");
		check(cell, { status: "dead", error: /SIGSEGV[\s\S]*Segmentation fault/ });
	});

	it("one whose guardian is killed ends with all that it started", async () => {
		await open();
		const forked = await open();
		await forked.execute("%%bash\nsleep 600 & echo $! > job");
		const job = Number(readFileSync(`${bench.folder}/job`, "utf8"));
		const pid = forked.info()?.pid ?? 0;
		process.kill(parentOf(pid), "SIGKILL");
		for (const each of [pid, job]) await until(`process ${each} has ended`, async () => !(await isRunning(each)));
		check(await forked.execute("2"), { result: "2" });
	});

	it("the server and its folder go with the last kernel", async () => {
		const first = await open();
		const second = await open();
		const server = serverOf(second) ?? 0;
		const folders = () => readdirSync(bench.folder).filter((name) => name.startsWith("prime-agent-forks-"));
		await second.dispose();
		expect([await isRunning(server), folders().length]).toEqual([true, 1]);
		await first.dispose();
		expect([await isRunning(server), folders().length]).toEqual([false, 0]);
	});

	it("closing while a server loads leaves nothing behind", async () => {
		const first = await open();
		const second = bench.open();
		second.prewarm();
		await Promise.all([second.dispose(), first.dispose()]);
		expect(readdirSync(bench.folder).filter((name) => name.startsWith("prime-agent-"))).toEqual([]);
	});

	it("who connects without a key gets nothing and disturbs nothing", async () => {
		await open();
		await open();
		const folder = readdirSync(bench.folder).find((name) => name.startsWith("prime-agent-forks-"));
		const socket = connect(`${bench.folder}/${folder}/s`);
		const { promise: closed, resolve } = Promise.withResolvers<void>();
		let heard = "";
		socket.on("data", (data) => {
			heard += String(data);
		});
		socket.once("close", () => resolve());
		socket.write(`${"0".repeat(32)}{"op":"hello"}\n`);
		await closed;
		expect(heard).toBe("");
		expect(serverOf(await open())).toBeGreaterThan(1);
	});

	it("a folder whose name is too long for a socket is no reason to fail", async () => {
		const long = `${bench.folder}/${"long".repeat(20)}`;
		await mkdir(long);
		const env = { ...bench.options().env, TMPDIR: long };
		await open({ env });
		expect(serverOf(await open({ env }))).toBeUndefined();
	});

	it("a server that does not start is no reason to fail, and is tried once", async () => {
		const python = (await open()).info()?.python;
		const script = `${bench.folder}/python`;
		writeFileSync(
			script,
			`#!/bin/sh\ncase "$*" in *--forks=*) echo tried >> '${bench.folder}/tried'; exit 3;; esac\nexec '${python}' "$@"\n`,
			{ mode: 0o755 },
		);
		const settings = { python: script };
		for (let count = 0; count < 3; count += 1) expect(serverOf(await open({ settings }))).toBeUndefined();
		expect(existsSync(`${bench.folder}/tried`)).toBe(true);
		expect(readFileSync(`${bench.folder}/tried`, "utf8")).toBe("tried\n");
	});

	it("a forked kernel has the local time of its own session", async () => {
		await open();
		await open();
		const env = { ...bench.options().env, TZ: "XYZ-5" };
		for (const kernel of [await open({ env }), await open({ env })]) {
			check(await kernel.execute("import time\nprint(time.strftime('%Z %z'))"), { stdout: "XYZ +0500\n" });
		}
	});

	it("kernels are forked for a session with another locale by another server", async () => {
		await open();
		const usual = await open();
		const env = { ...bench.options().env, LC_ALL: "C" };
		await open({ env });
		const other = await open({ env });
		expect(serverOf(other)).toBeGreaterThan(1);
		expect(serverOf(other)).not.toBe(serverOf(usual));
	});
});
