import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { waitFor } from "../process/wait.ts";
import { fakeAgentPath } from "./script.ts";

describe("the fake agent TUI", () => {
	let folder: string;
	let stop: () => void = () => undefined;
	beforeEach(() => {
		folder = mkdtempSync(join(tmpdir(), "tui-"));
	});
	afterEach(() => {
		stop();
		rmSync(folder, { recursive: true, force: true });
	});

	async function start(...args: string[]) {
		const log = join(folder, "log");
		const child = spawn(process.execPath, [fakeAgentPath, ...args, "--log", log], { cwd: folder });
		stop = () => child.kill("SIGKILL");
		const read = () => (existsSync(log) ? readFileSync(log, "utf8").trim().split("\n") : []);
		const entries = () => read().flatMap((line) => (line === "" ? [] : [JSON.parse(line) as Record<string, string>]));
		await waitFor(() => entries().some((entry) => entry.type === "started"), "the fake agent");
		return { press: (keys: string) => child.stdin.write(keys), entries };
	}

	it("logs what it received: keys, pastes and whole messages", async () => {
		const { press, entries } = await start();
		press("hello\r");
		await waitFor(() => entries().some((entry) => entry.type === "turn-end"), "the first turn");
		press("\u001b[200~two\rlines\u001b[201~\r");
		await waitFor(() => entries().filter((entry) => entry.type === "message").length === 2, "the second message");
		expect(entries().filter((entry) => entry.type === "message")).toEqual([
			{ type: "message", text: "hello" },
			{ type: "message", text: "two\nlines" },
		]);
		expect(entries().filter((entry) => entry.type === "paste").length).toBe(1);
	});

	it("ignores keys at a wall until the right answer is chosen", async () => {
		const { press, entries } = await start("--wall", "Trust this folder?", "--wall-no");
		press("x\u001b[A\rhello\r");
		await waitFor(() => entries().some((entry) => entry.type === "message"), "the message");
		expect(entries().filter((entry) => entry.type === "message")).toEqual([{ type: "message", text: "hello" }]);
	});

	it("tells each change of its state to the command that stands for its hooks", async () => {
		const said = join(folder, "said");
		const { press } = await start("--hooks", `>>${said} echo`, "--ask");
		press("work\r");
		await waitFor(() => existsSync(said) && readFileSync(said, "utf8") === "active\nwaiting\n", "both words");
	});
});
