import { expect, test } from "vitest";
import type { ActionStage, Lane } from "../protocol/event.ts";
import { Gate } from "./gate.ts";
import { type ActionOutcome, IllegalMoveError, Queue } from "./queue.ts";

/** `npm run soak` asks for more. */
const WORLDS = Number(process.env.SOAK_WORLDS ?? 400);
const LANES: readonly Lane[] = ["steer", "followUp", "notice"];

/** A small generator of numbers, so that a seed gives the same world again (Numerical Recipes' constants). */
function numbers(seed: number): () => number {
	let state = seed >>> 0;
	return () => {
		state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
		return state / 2 ** 32;
	};
}

async function wait(ticks: number, signal?: AbortSignal): Promise<void> {
	for (let i = 0; i < ticks && !signal?.aborted; i++) await Promise.resolve();
}

interface World {
	readonly overlaps: string[];
	readonly ran: { id: number; lane: Lane }[];
	readonly interrupted: number;
	readonly left: number;
}

/** People and features do 60 things at random moments while a pump works the queue off. */
async function runWorld(seed: number): Promise<World> {
	const random = numbers(seed);
	const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)]!;
	const gate = new Gate();
	const queue = new Queue();
	const overlaps: string[] = [];
	const ran: { id: number; lane: Lane }[] = [];
	const waits: Promise<unknown>[] = [];
	let [turns, tasks, interrupted, pumping] = [0, 0, 0, false];

	const pump = async () => {
		if (pumping) return;
		pumping = true;
		while (queue.next()) {
			await gate.turn(async (signal) => {
				const action = queue.next();
				if (!action) return;
				queue.move(action, "selected");
				if (tasks > 0 || turns > 0) overlaps.push(`turn ${action.id}`);
				turns++;
				await wait(Math.floor(random() * 4), signal);
				turns--;
				if (signal.aborted && random() < 0.5) {
					interrupted++;
					queue.move(action, "queued");
					return;
				}
				for (const stage of ["preparing", "committing", "running"] satisfies ActionStage[]) queue.move(action, stage);
				ran.push({ id: action.id, lane: action.lane });
				queue.move(action, pick(["completed", "completed", "failed", "cancelled"] as const));
			});
		}
		pumping = false;
	};

	for (let i = 0; i < 60; i++) {
		const dice = random();
		if (dice < 0.6) {
			const lane = pick(LANES);
			const key = lane === "notice" && random() < 0.5 ? "child" : undefined;
			const action = queue.add(lane, { text: `text ${i}` }, key);
			waits.push(action.ended);
			void pump();
		} else if (dice < 0.9) {
			const task = gate.exclusive("maintain", { interrupt: random() < 0.5 }, async () => {
				if (turns > 0 || tasks > 0) overlaps.push("task");
				tasks++;
				await wait(Math.floor(random() * 4));
				tasks--;
				if (random() < 0.1) throw new Error("maintenance failed");
			});
			waits.push(task.catch((error: Error) => expect(error.message).toBe("maintenance failed")));
		} else {
			queue.cancelWaiting();
		}
		await wait(Math.floor(random() * 3));
	}
	await Promise.all(waits);
	return { overlaps, ran, interrupted, left: queue.size };
}

function findFaults(world: World): string[] {
	const faults = world.overlaps.map((overlap) => `overlap of ${overlap}`);
	if (world.left > 0) faults.push(`${world.left} actions left`);
	if (new Set(world.ran.map((action) => action.id)).size < world.ran.length) faults.push("an action ran twice");
	for (const lane of ["steer", "followUp"] as const) {
		const ids = world.ran.filter((action) => action.lane === lane).map((action) => action.id);
		if (ids.some((id, index) => index > 0 && ids[index - 1]! > id)) faults.push(`lane ${lane} out of order: ${ids}`);
	}
	return faults;
}

test("turns and exclusive tasks never overlap, every action ends once and lanes keep their order, in many random worlds", async () => {
	let [interrupted, ran] = [0, 0];
	const faults: string[] = [];
	for (let seed = 1; seed <= WORLDS; seed++) {
		const world = await runWorld(seed);
		faults.push(...findFaults(world).map((fault) => `seed ${seed}: ${fault}`));
		interrupted += world.interrupted;
		ran += world.ran.length;
	}
	expect(faults).toEqual([]);
	expect(interrupted).toBeGreaterThan(WORLDS / 8);
	expect(ran).toBeGreaterThan(WORLDS * 7);
});

test("an action that has ended cannot move again", () => {
	const queue = new Queue();
	const action = queue.add("steer", { text: "x" });
	queue.move(action, "cancelled");
	expect(() => queue.move(action, "selected")).toThrow(IllegalMoveError);
});

test("an action cannot run before it was committed", () => {
	const queue = new Queue();
	const action = queue.add("steer", { text: "x" });
	expect(() => queue.move(action, "running")).toThrow("queued -> running");
});

test("content under a key that still waits is replaced and both callers hear of its end", async () => {
	const queue = new Queue();
	const first = queue.add("notice", { text: "1 child done" }, "child");
	const second = queue.add("notice", { text: "2 children done" }, "child");
	expect(queue.snapshot().queuedCount).toBe(1);
	expect(queue.next()?.content.text).toBe("2 children done");
	for (const stage of ["selected", "preparing", "committing", "running", "completed"] satisfies ActionStage[]) {
		queue.move(second, stage);
	}
	const expected: ActionOutcome = { stage: "completed" };
	expect(await Promise.all([first.ended, second.ended])).toEqual([expected, expected]);
});

test("cancelling what waits gives back what people typed, in order, and leaves a running action alone", () => {
	const queue = new Queue();
	const running = queue.add("steer", { text: "running" });
	queue.move(running, "selected");
	queue.add("followUp", { text: "b" });
	queue.add("steer", { text: "a" });
	queue.add("notice", { text: "from a feature", customType: "note" });
	expect(queue.cancelWaiting()).toEqual(["b", "a"]);
	expect(queue.snapshot()).toEqual({
		queuedCount: 0,
		steering: [],
		followUps: [],
		active: { kind: "turn", phase: "selected" },
	});
});
