import { AsyncLocalStorage } from "node:async_hooks";
import { queryObjects } from "node:v8";
import { expect, test } from "vitest";
import { Gate } from "./gate.ts";

test("an exclusive task asked for inside of a turn is refused instead of waiting for itself", async () => {
	const gate = new Gate();
	await gate.turn(async () => {
		await expect(gate.exclusive("compact", {}, () => Promise.resolve())).rejects.toMatchObject({ code: "refused" });
	});
});

test("a request on behalf of a running turn is refused an exclusive task although it comes from elsewhere", async () => {
	const gate = new Gate();
	const { promise: asked, resolve: ask } = Promise.withResolvers<void>();
	const { promise: done, resolve: end } = Promise.withResolvers<void>();
	const turn = gate.turn(async () => {
		ask();
		await done;
	});
	await asked;
	const request = gate.onBehalf(() => gate.exclusive("compact", {}, () => Promise.resolve()));
	await expect(request).rejects.toThrow("inside of a turn");
	end();
	await turn;
});

test("somebody outside gets an exclusive task after the turn, also when an event of the turn made them ask", async () => {
	const gate = new Gate();
	const order: string[] = [];
	let task: Promise<void> | undefined;
	await gate.turn(async () => {
		task = gate.outside(() =>
			gate.exclusive("compact", {}, async () => {
				order.push("task");
			}),
		);
		await Promise.resolve();
		order.push("turn");
	});
	await task;
	expect(order).toEqual(["turn", "task"]);
});

test("code that a turn left behind may ask for an exclusive task once the turn is over", async () => {
	const gate = new Gate();
	let later: (() => Promise<string>) | undefined;
	const { promise: over, resolve: end } = Promise.withResolvers<void>();
	let left: Promise<string> | undefined;
	await gate.turn(async () => {
		later = () => gate.exclusive("late", {}, () => Promise.resolve("ran"));
		left = over.then(() => later!());
	});
	end();
	expect(await left).toBe("ran");
});

test("an interrupting task tells the turn to stop and runs when it has", async () => {
	const gate = new Gate();
	const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
	const turn = gate.turn(async (signal) => {
		begin();
		await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
		return String(signal.reason);
	});
	await begun;
	const task = gate.exclusive("compact", { interrupt: true }, () => Promise.resolve("done"));
	expect(await Promise.all([turn, task])).toEqual(["compact", "done"]);
});

test("a task that fails does not keep the next one waiting", async () => {
	const gate = new Gate();
	const failed = gate.exclusive("a", {}, () => Promise.reject(new Error("no")));
	const next = gate.exclusive("b", {}, () => Promise.resolve("yes"));
	await expect(failed).rejects.toThrow("no");
	expect(await next).toBe("yes");
});

test("a running task is told when somebody stops the session's work, but not by the next task", async () => {
	const gate = new Gate();
	const { promise: begun, resolve: begin } = Promise.withResolvers<AbortSignal>();
	const { promise: done, resolve: end } = Promise.withResolvers<void>();
	const first = gate.exclusive("a", {}, async (signal) => {
		begin(signal);
		await done;
	});
	const signal = await begun;
	const second = gate.exclusive("b", { interrupt: true }, () => Promise.resolve());
	expect(signal.aborted).toBe(false);
	expect(gate.interrupt("stop")).toBe(true);
	expect(signal.reason).toBe("stop");
	end();
	await Promise.all([first, second]);
	expect(gate.interrupt("stop")).toBe(false);
});

test("inside of a turn another session's gate grants an exclusive task, and inside of that the first gate still refuses", async () => {
	const parent = new Gate();
	const child = new Gate();
	const inner = await parent.turn(() =>
		child.exclusive("compact", {}, async () => {
			const own = child.exclusive("compact", {}, () => Promise.resolve()).catch((error: Error) => error.message);
			const outer = child
				.outside(() => parent.exclusive("refine", {}, () => Promise.resolve()))
				.catch((error: Error) => error.message);
			return Promise.all([own, outer]);
		}),
	);
	expect(inner).toEqual([
		expect.stringContaining('"compact" cannot run inside of compact'),
		expect.stringContaining('"refine" cannot run inside of a turn'),
	]);
});

test("many gates leave nothing behind that every later promise of the process would have to visit", async () => {
	await new Gate().turn(() => Promise.resolve());
	const before = queryObjects(AsyncLocalStorage, { format: "count" });
	for (let i = 0; i < 50; i++) await new Gate().turn(() => Promise.resolve());
	expect(queryObjects(AsyncLocalStorage, { format: "count" })).toBe(before);
});
