import { expect, test } from "vitest";
import type { KernelEvent } from "../../session/ports.ts";
import { tellKernelEvents } from "./watch.ts";

/** What clients and people are told of these events. */
function tell(...events: KernelEvent[]): unknown[] {
	const told: unknown[] = [];
	const onEvent = tellKernelEvents({
		emit: (name, data) => told.push({ [name]: data }),
		notify: (level, text) => told.push(`${level}: ${text}`),
	});
	for (const event of events) onEvent(event);
	return told;
}

test("the end of a kernel is an event and a warning, each time", () => {
	const event = { type: "ended", how: "The kernel process ended with exit code 7.", exitCode: 7 } as const;
	const { type: _type, ...data } = event;
	const warning = "warning: The kernel process ended with exit code 7. The next cell gets a new one.";
	expect(tell(event, event)).toEqual([{ kernel_ended: data }, warning, { kernel_ended: data }, warning]);
});

test("a variable that is not saved is told once, however many snapshots follow", () => {
	const event: KernelEvent = {
		type: "saved",
		names: ["a", "b"],
		unsaved: [{ name: "g", why: "it is larger than 64 MB" }],
		bytes: 7,
		durationMs: 1,
		behind: 0,
	};
	const data = { kernel_saved: { count: 2, unsaved: event.unsaved, bytes: 7 } };
	const note = "info: Not saved with the session: the variable g (it is larger than 64 MB).";
	expect(tell(event, event)).toEqual([data, note]);
	expect(tell({ ...event, unsaved: [] })).toEqual([]);
});

test("of hundreds of variables that are not saved the first are named and the others counted", () => {
	const unsaved = Array.from({ length: 500 }, (_, index) => ({ name: `${index}`.padEnd(9999, "x"), why: "no time" }));
	const [, ...notes] = tell({ type: "saved", names: [], unsaved, bytes: 7, durationMs: 1, behind: 0 });
	expect(notes).toHaveLength(21);
	expect(notes.at(-1)).toBe("info: Not saved with the session: 480 more variables.");
	expect(notes.join("").length).toBeLessThan(5000);
});

test("a snapshot that cannot be written is an event and a warning, once for each reason", () => {
	const reason = "it cannot be written: No space left on device";
	const event: KernelEvent = { type: "save_failed", reason };
	expect(tell(event, event)).toEqual([
		{ kernel_save_failed: { reason } },
		`warning: The variables of the kernel were not saved: ${reason}.`,
	]);
});

test("a kernel that stands in for another is an event and a warning, once, however many kernels start", () => {
	const reason = "The environment made for the kernel (/home/user/venv) has no Python that can run any more.";
	const advice = "prime-agent kernel install makes it anew.";
	const event: KernelEvent = { type: "stands_in", reason, advice };
	expect(tell(event, event)).toEqual([
		{ kernel_stands_in: { backend: "builtin", reason, advice } },
		`warning: Cells run on the built-in kernel. ${reason} ${advice}`,
	]);
});
