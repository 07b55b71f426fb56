import { expect, test } from "vitest";
import { Gate } from "./gate.ts";

test("a task that the running turn waits for is refused instead of waiting for itself", async () => {
	const gate = new Gate();
	const refused = gate.turn(() => gate.exclusive("compact", { within: gate.holder }, () => Promise.resolve()));
	await expect(refused).rejects.toMatchObject({ code: "refused" });
	await expect(refused).rejects.toThrow('"compact" cannot run inside of a turn');
});

test("a task that a running task waits for is refused with that one's name", async () => {
	const gate = new Gate();
	const outer = gate.exclusive("fork", {}, () =>
		gate.exclusive("compact", { within: gate.holder }, () => Promise.resolve()),
	);
	await expect(outer).rejects.toThrow("inside of fork");
});

test("a task for somebody that no turn waits for runs after the turn", async () => {
	const gate = new Gate();
	const order: string[] = [];
	let task: Promise<void> | undefined;
	await gate.turn(async () => {
		task = gate.exclusive("compact", {}, async () => {
			order.push("task");
		});
		await Promise.resolve();
		order.push("turn");
	});
	await task;
	expect(order).toEqual(["turn", "task"]);
});

test("code that a turn left behind may ask for a task once the turn is over", async () => {
	const gate = new Gate();
	let within = gate.holder;
	await gate.turn(async () => {
		within = gate.holder;
	});
	expect(await gate.exclusive("late", { within }, () => Promise.resolve("ran"))).toBe("ran");
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
