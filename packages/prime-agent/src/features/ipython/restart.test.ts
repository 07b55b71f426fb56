import { expect, test } from "vitest";
import { describeRestart } from "./restart.ts";

test("the model reads how the kernel ended, what came back, what is older and what is gone with its reason", () => {
	const text = describeRestart({
		how: "The kernel process was killed by SIGKILL.\nFatal Python error",
		restored: ["a", "b"],
		lost: [{ name: "g", why: "a live generator belongs to its process" }, { name: "late" }],
		behind: 2,
	});
	expect(text).toBe(
		"[The kernel process was killed by SIGKILL. This cell got a new kernel. Variables restored from a snapshot: a, b. " +
			"It was taken before the last 2 cells: what they changed is missing. " +
			"Gone: g (a live generator belongs to its process), late. Nothing was run again. " +
			"Background jobs, tasks, open files and environment variables set by cells are gone too.]\n",
	);
});

test("a session that goes on in another process says so, and why its snapshot could not be used", () => {
	const text = describeRestart({ restored: [], lost: [], behind: 0, problem: "it is not whole" });
	expect(text).toBe(
		"[The session goes on in a new kernel. The snapshot of the variables could not be used: it is not whole. " +
			"All variables from before are gone.]\n",
	);
});

test("a snapshot that may be older than the last cells says so", () => {
	const text = describeRestart({ restored: ["a"], lost: [], behind: "unknown" });
	expect(text).toContain("It may be older than the last cells");
});

test("a folder that is gone is named", () => {
	const text = describeRestart({ restored: ["a"], lost: [], behind: 0, folder: "/home/user/gone" });
	expect(text).toContain("The folder /home/user/gone is not there any more.");
});

test("hundreds of names are counted instead of listed", () => {
	const restored = Array.from({ length: 500 }, (_, index) => `variable_${index}`.padEnd(9999, "_"));
	const text = describeRestart({
		restored,
		lost: restored.map((name) => ({ name, why: "x".repeat(1000) })),
		behind: 0,
	});
	expect(text.match(/and 440 more/g)).toHaveLength(2);
	expect(text.length).toBeLessThan(20_000);
});
