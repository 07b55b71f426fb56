import { expect } from "vitest";
import { cells, check, type KernelCase, until } from "./bench.ts";

/** Requests from cells to the host. */
export const BRIDGE: readonly KernelCase[] = [
	{
		title: "A request is answered while the cell that sent it runs",
		run: async (bench) => {
			bench.kernel.serve(async (type, payload) => ({ type, payload }));
			check(await bench.run("import rlm\nawait rlm.host_request('a.b', {'n': 1})"), {
				result: "{'type': 'a.b', 'payload': {'n': 1}}",
			});
		},
	},
	{
		title: "A key named type in the payload does not reroute a request",
		run: async (bench) => {
			bench.kernel.serve(async (type, payload) => [type, payload.type, payload.op, payload.id]);
			check(await bench.run("await rlm.host_request('real', {'type': 'forged', 'op': 'done', 'id': 9})"), {
				result: "['real', 'forged', 'done', 9]",
			});
		},
	},
	{
		title: "Fifty requests wait at the same time and each gets its own answer",
		run: async (bench) => {
			let open = 0;
			const { promise: all, resolve } = Promise.withResolvers<void>();
			bench.kernel.serve(async (_type, { n }) => {
				open += 1;
				if (open === 50) resolve();
				await all;
				return n;
			});
			check(
				await bench.run(
					"import asyncio\nr = await asyncio.gather(*(rlm.host_request('n', {'n': i}) for i in range(50)))\nr == list(range(50))",
				),
				{
					result: "True",
				},
			);
		},
	},
	{
		title: "Threads can ask without await while the cell waits for them",
		run: async (bench) => {
			bench.kernel.serve(async (_type, { n }) => Number(n) * 2);
			const code =
				"from concurrent.futures import ThreadPoolExecutor as T\nwith T(8) as p:\n    r = list(p.map(lambda n: rlm.host_request_sync('n', {'n': n}), range(16)))\nr == [n * 2 for n in range(16)]";
			check(await bench.run(code), { result: "True" });
		},
	},
	{
		title: "The main thread can ask without await",
		run: async (bench) => {
			bench.kernel.serve(async () => ({ ok: true }));
			check(await bench.run("rlm.host_request_sync('x')"), { result: "{'ok': True}" });
		},
	},
	{
		title: "A refusal of the host is raised in the cell with its message",
		run: async (bench) => {
			bench.kernel.serve(async () => {
				throw new Error("not today: the budget is spent");
			});
			check(await bench.run("await rlm.host_request('x')"), { error: "HostError: not today: the budget is spent" });
			check(await bench.run("try:\n    rlm.host_request_sync('x')\nexcept rlm.HostError as e:\n    print(e)"), {
				stdout: "not today: the budget is spent\n",
			});
		},
	},
	{
		title: "An answer that is not JSON is raised in the cell",
		run: async (bench) => {
			bench.kernel.serve(async () => 10n);
			check(await bench.run("await rlm.host_request('x')"), { error: /HostError: .*BigInt/ });
		},
	},
	{
		title: "A payload that is not JSON is refused in the cell, and the next request works",
		run: async (bench) => {
			bench.kernel.serve(async () => "fine");
			check(await bench.run("await rlm.host_request('x', {'a': object()})"), { error: /TypeError/ });
			check(await bench.run("await rlm.host_request('x', [1])"), { error: /TypeError.*dict/ });
			check(await bench.run("await rlm.host_request('x')"), { result: "'fine'" });
		},
	},
	cells("A request that nobody answers is an error at once", "await rlm.host_request('x.y')", {
		error: /HostError: .*x\.y/,
	}),
	{
		title: "A large answer and a large payload arrive whole",
		run: async (bench) => {
			bench.kernel.serve(async (_type, { text }) => `${text}${text}`);
			check(await bench.run("t = 'é' * 1_000_000\nlen(await rlm.host_request('x', {'text': t}))"), {
				result: "2000000",
			});
		},
	},
	{
		title: "A background task can ask between cells",
		run: async (bench) => {
			let asked = 0;
			bench.kernel.serve(async () => {
				asked += 1;
			});
			await bench.run(
				"import asyncio\nasync def later():\n    await asyncio.sleep(0.03)\n    return await rlm.host_request('x')\nt = asyncio.create_task(later())",
			);
			await until("the task has asked", () => asked === 1);
			check(await bench.run("await t"), { result: undefined });
		},
	},
	{
		title: "Asking from a loop inside the cell works",
		run: async (bench) => {
			bench.kernel.serve(async () => 5);
			check(await bench.run("import asyncio\nasyncio.run(rlm.host_request('x'))"), { result: "5" });
		},
	},
	{
		title: "A request whose cell is interrupted is called off at the host",
		run: async (bench) => {
			const stop = new AbortController();
			let calledOff = false;
			bench.kernel.serve(
				(_type, _payload, signal) =>
					new Promise((_, reject) => {
						signal.addEventListener("abort", () => {
							calledOff = true;
							reject(signal.reason);
						});
						stop.abort();
					}),
			);
			expect((await bench.run("await rlm.host_request('x')", { signal: stop.signal })).status).toBe("interrupted");
			await until("the host knows", () => calledOff);
		},
	},
	{
		title: "A request whose kernel dies is called off at the host",
		run: async (bench) => {
			let calledOff = false;
			bench.kernel.serve(async (_type, _payload, signal) => {
				signal.addEventListener("abort", () => {
					calledOff = true;
				});
				await new Promise(() => undefined);
			});
			await bench.run(
				"import threading, os, time\nthreading.Timer(0.1, lambda: os.kill(os.getpid(), 9)).start()\nawait rlm.host_request('x')",
			);
			await until("the host knows", () => calledOff);
		},
	},
	{
		title: "The goal is there without an import and speaks to the host in snake case",
		run: async (bench) => {
			const asked: unknown[] = [];
			bench.kernel.serve(async (type, payload) => {
				asked.push([type, payload]);
				return { goal: null, remaining_tokens: 5, completion_budget_report: null };
			});
			check(await bench.run("(await goal.get())['remaining_tokens']"), { result: "5" });
			await bench.run("await goal.create('ship it', token_budget=200)");
			await bench.run("await goal.create('plain')");
			await bench.run("await goal.complete()");
			expect(asked).toEqual([
				["goal.get", {}],
				["goal.create", { objective: "ship it", token_budget: 200 }],
				["goal.create", { objective: "plain" }],
				["goal.complete", {}],
			]);
		},
	},
	cells(
		"A command that imports rlm is told that there is no host",
		'import sys, rlm, os\nroot = os.path.dirname(os.path.dirname(rlm.__file__))\n!PYTHONPATH="{root}" {sys.executable} -c \'import rlm; rlm.host_request_sync("x")\'',
		{ stderr: /HostError: there is no host here/ },
	),
];
