import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { fakeAgentPath } from "@prime-agent/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runAgentTmux } from "../testing/command.ts";
import { startFake } from "../testing/fake-pane.ts";
import { launchFake } from "../testing/sessions.ts";
import { hasTmux, PrivateServer, until } from "../testing/tmux-server.ts";
import { quoteWord } from "../tmux/arguments.ts";

describe.skipIf(!hasTmux).concurrent("agent-tmux send --via (needs tmux)", () => {
	let server: PrivateServer;
	beforeAll(async () => {
		server = new PrivateServer();
		await server.open("exec cat");
	});
	afterAll(() => server[Symbol.asyncDispose]());

	const run = (...words: string[]) => runAgentTmux(server, words);
	const countPastes = (log: { entries(): { type: string }[] }) =>
		log.entries().filter((entry) => entry.type === "paste").length;

	it("ladder sends to a pane as to a session: keys until the composer is empty", async () => {
		const { pane, log } = await startFake(server, ["--style", "codex", "--ignore-enter", "2"]);
		expect(await run("send", pane, "hello", "--via", "ladder")).toMatchObject({
			code: 0,
			stdout: `submitted ${pane}\n`,
		});
		expect([log.messages(), log.keys()]).toEqual([["hello"], ["Enter", "Enter", "Enter"]]);
	});

	it("ladder knows the agent CLI of a pane by its process, and refuses what that one would change", async () => {
		const program = join(server.folder, "codex");
		symlinkSync(fakeAgentPath, program);
		const pane = await server.open(`exec ${[process.execPath, program, "--style", "codex"].map(quoteWord).join(" ")}`);
		await until(async () => (await run("capture", pane, "--raw")).stdout.includes("›"), "its composer");
		expect(await run("send", pane, "!ls", "--via", "ladder")).toMatchObject({
			code: 1,
			stderr: expect.stringContaining("shell command"),
		});
		await run("send", pane, "--key", "h");
		await until(async () => (await run("capture", pane, "--raw")).stdout.includes("› h"), "the draft");
		expect(await run("send", pane, "hello", "--via", "ladder")).toMatchObject({
			code: 1,
			stderr: expect.stringContaining("not empty"),
		});
	});

	it("paste sends to a session as to a pane: one guarded paste, without a claim", async () => {
		const { name, view, log } = await launchFake(server, ["--style", "codex"]);
		expect(await run("send", name, "hello", "--via", "paste")).toMatchObject({
			code: 0,
			stdout: `delivered ${view.io.id}\n`,
		});
		expect([log.messages(), countPastes(log)]).toEqual([["hello"], 1]);
	});

	it("typed sends to either as deliver does: readiness, echo and reaction are proven", async () => {
		const { pane, log } = await startFake(server, []);
		expect(await run("send", pane, "hello", "--via", "typed")).toMatchObject({
			code: 0,
			stdout: `delivered ${pane}\n`,
		});
		expect([log.messages(), countPastes(log)]).toEqual([["hello"], 0]);
		const wall = await startFake(server, ["--wall", "Trust this folder?"]);
		expect(await run("send", wall.pane, "hello", "--via", "typed", "--json")).toMatchObject({
			code: 1,
			stdout: expect.stringContaining('"reason":"not_ready"'),
		});
		expect(wall.log.keys().filter((key) => key === "Enter")).toEqual([]);
	});

	it.each([
		["x", "--via", "pigeon"],
		["--key", "Up", "--via", "typed"],
		["x", "--no-enter", "--via", "ladder"],
		["two\nlines", "--via", "typed"],
		["two\rlines", "--via", "typed"],
	])("%j %s %s is a usage error", async (...words) => {
		const { pane } = await startFake(server, []);
		expect((await run("send", pane, ...words)).code).toBe(2);
	});
});
