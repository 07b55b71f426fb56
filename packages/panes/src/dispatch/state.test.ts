import { describe, expect, it } from "vitest";
import { decideReap, deriveHeadless, derivePane, isWorkerPane, selectMode } from "./state.ts";

const record = { spawn_cmd: "x", started_at: "2026-01-01T00:00:00Z" };

describe("the state of a worker", () => {
	it.each([
		[undefined, true, false, "running"],
		[undefined, false, false, "orphaned"],
		["7\n", false, true, "failed"],
		["124\n", false, false, "failed"],
		["0\n", false, true, "done"],
		["0\n", false, false, "failed (no-result)"],
		["", false, true, "done"],
		["garbage", false, false, "failed (no-result)"],
	])("headless with exit %j, alive %j, result %j is %s", (exit, isRunning, hasResult, state) => {
		expect(deriveHeadless(exit, isRunning, hasResult)).toBe(state);
	});

	it.each([
		[true, true, "done"],
		[true, false, "done"],
		[false, true, "running"],
		[false, false, "orphaned"],
	])("in a pane with result %j and pane alive %j is %s", (hasResult, isAlive, state) => {
		expect(derivePane(hasResult, isAlive)).toBe(state);
	});

	it("takes a pane with another process for an impostor and a record without one for any pane (T152)", () => {
		expect(isWorkerPane({ pane_pid: 5 }, { exists: true, pid: 6 })).toBe(false);
		expect(isWorkerPane({ pane_pid: 5 }, { exists: true, pid: undefined })).toBe(true);
		expect(isWorkerPane({}, { exists: true, pid: 6 })).toBe(true);
		expect(isWorkerPane({ pane_pid: 5 }, { exists: false, pid: 5 })).toBe(false);
	});

	it("lets only a finished pane worker be reaped, and only when reaping is on (T157)", () => {
		const pane = { ...record, pane: "%1" };
		expect(decideReap(pane, "done", true)).toBeUndefined();
		expect(decideReap(pane, "done", false)).toContain("reap_done");
		expect(decideReap(pane, "running", true)).toContain("running");
		expect(decideReap(pane, "orphaned", true)).toContain("orphaned");
		expect(decideReap(record, "done", true)).toContain("headless");
	});

	it("descends from the preferred mode and never ascends", () => {
		const all = { pane: true, native: true, headless: true };
		expect(selectMode("pane", all)).toEqual({ mode: "pane", reason: "mode: pane (preferred)" });
		expect(selectMode("pane", { ...all, pane: false })?.mode).toBe("native");
		expect(selectMode("native", { ...all, native: false })?.reason).toContain("descended: native");
		expect(selectMode("headless", { ...all, headless: false })).toBeUndefined();
		expect(selectMode("native", all, "pane")?.mode).toBe("pane");
	});
});
