import { spawn } from "node:child_process";
import { once } from "node:events";
import { describe, expect, it } from "vitest";
import { signalGroup } from "./process.ts";

describe("signalGroup", () => {
	it("reaches every process of the group", async () => {
		const child = spawn("sh", ["-c", "sleep 600 & wait"], { detached: true, stdio: ["ignore", "pipe", "ignore"] });
		expect(signalGroup(child.pid ?? 0, "SIGKILL")).toBe(true);
		// the pipe closes only when the grandchild is gone too
		await once(child, "close");
		expect(child.signalCode).toBe("SIGKILL");
	});

	it("says when nothing of the group is left", async () => {
		const child = spawn("true", { detached: true, stdio: "ignore" });
		await once(child, "close");
		expect(signalGroup(child.pid ?? 0, "SIGKILL")).toBe(false);
	});

	it.each([0, 1, -5, Number.NaN, 1.5])("refuses %d, which would mean other processes", (pid) => {
		expect(signalGroup(pid, "SIGTERM")).toBe(false);
	});
});
