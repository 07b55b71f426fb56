import { appendFileSync, mkdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runAgentTmux } from "../testing/command.ts";
import { fakeCommand } from "../testing/fake-pane.ts";
import { hasTmux, PrivateServer, until } from "../testing/tmux-server.ts";
import { readPane } from "../tmux/pane.ts";

describe.skipIf(!hasTmux).concurrent("the session commands of agent-tmux (needs tmux)", () => {
	let server: PrivateServer;
	beforeAll(async () => {
		server = new PrivateServer();
		await server.open("exec cat");
	});
	afterAll(() => server[Symbol.asyncDispose]());

	const run = (...words: string[]) => runAgentTmux(server, words);

	async function launch(name: string, args: string[], flags: string[] = []) {
		const { words, log } = fakeCommand(server, args);
		const style = args[args.indexOf("--style") + 1] ?? "generic";
		return { log, result: await run("launch", name, "--profile", style, ...flags, "--", ...words) };
	}

	it("launch, send, state, wait, peek and kill work together", async () => {
		const { log, result } = await launch("all", ["--style", "codex", "--turn", "300", "--rollout", "events"]);
		expect(result).toEqual({ code: 0, stdout: "ready\n", stderr: "" });
		expect(await run("send", "all", "hello")).toMatchObject({ code: 0, stdout: "submitted\n" });
		expect(await run("wait", "all", "60")).toMatchObject({ code: 0, stdout: "idle\n" });
		const state = JSON.parse((await run("state", "all", "--json")).stdout);
		expect(state).toMatchObject({ state: "idle", producer: "idle", hook: null });
		expect((await run("peek", "all", "30")).stdout).toContain("answer 1 to hello");
		expect(log.messages()).toEqual(["hello"]);
		expect(await run("kill", "all")).toMatchObject({ code: 0, stdout: "killed all\n" });
		expect(await run("kill", "all")).toMatchObject({ code: 0, stdout: "no session 'all'\n" });
		expect(await run("status", "all")).toMatchObject({ code: 0, stdout: "dead\n" });
	});

	it("launch reports a wall with the screen and exit 1, and a missing command with exit 2", async () => {
		const { result } = await launch("wall", ["--style", "claude", "--wall", "Do you trust the files in this folder?"]);
		expect(result).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining("1. Yes, I trust it") });
		expect((await run("launch", "x")).code).toBe(2);
		expect((await run("launch", "x", "--size", "wide", "--", "cat")).code).toBe(2);
		expect((await run("launch", "x", "--profile", "nobody", "--", "cat")).code).toBe(2);
		expect((await run("launch", "x", "--ready", "(", "--", "cat")).code).toBe(2);
	});

	it("launch refuses a program that is not on PATH, and leaves the session that it would replace", async () => {
		await launch("stays", ["--style", "codex"]);
		expect(await run("launch", "stays", "--replace", "--", "nowhere-to-be-found")).toEqual({
			...{ code: 2, stdout: "" },
			stderr:
				"agent-tmux launch: nowhere-to-be-found is not on PATH; install it, put its folder on PATH, or launch another program\n",
		});
		expect(await run("status", "stays")).toMatchObject({ stdout: "idle\n" });
		expect(await run("launch", "x", "--", "./nowhere")).toMatchObject({
			...{ code: 2, stderr: expect.stringContaining("./nowhere is no program that can be started") },
		});
	});

	it("a limit in the environment that is no number is an error and no endless wait", async () => {
		for (const [name, words] of [
			["AGENT_TMUX_TIMEOUT", ["launch", "bad", "--", "cat"]],
			["AGENT_TMUX_CAP", ["wait", "bad"]],
		] as const) {
			const result = await runAgentTmux(server, words, { env: { [name]: "soon" } });
			expect(result).toMatchObject({ code: 1, stderr: expect.stringContaining(`${name} needs a number`) });
		}
	});

	it("send-wait prints the rows and says on stderr how the wait ended (T138)", async () => {
		await launch("slow", ["--style", "codex", "--turn-forever"]);
		const result = await run("send-wait", "slow", "question", "1");
		expect(result).toMatchObject({ code: 1, stdout: expect.stringContaining("question"), stderr: "timeout\n" });
	});

	it("send reports what it could not confirm, and what a session cannot do (T141)", async () => {
		await launch("deaf", ["--style", "codex", "--ignore-enter", "999", "--ignore-tab"]);
		const result = await run("send", "deaf", "hello", "--json");
		expect(result).toMatchObject({ code: 1, stderr: expect.stringContaining("NOT CONFIRMED") });
		expect(JSON.parse(result.stdout)).toMatchObject({ ok: false, error: { reason: "not_confirmed" } });
		expect((await run("send", "deaf", "--key", "Enter")).code).toBe(2);
		expect((await run("send", "nobody", "x")).code).toBe(1);
	});

	it("a program that only the configuration knows is launched, prompted and watched like every other", async () => {
		const folder = join(server.folder, "custom", "agent-tmux");
		mkdirSync(folder, { recursive: true });
		const mine = {
			...{ ready: "for shortcuts", busy: "esc to interrupt", composer: "claude-frame" },
			launch_env: { set: { GREETING: "hi" } },
			dismiss: [{ match: "Rate your session", choose: "\\d\\. Later" }],
		};
		writeFileSync(join(folder, "config.yaml"), JSON.stringify({ tui_profiles: { mine } }));
		const env = { XDG_CONFIG_HOME: join(server.folder, "custom") };
		const args = [
			"--style",
			"claude",
			"--turn-forever",
			"--wall",
			"Rate your session",
			"--wall-answers",
			"Later|Now",
			"--wall-no",
		];
		const { words, log } = fakeCommand(server, args);
		const launched = await runAgentTmux(server, ["launch", "own", "--profile", "mine", "--json", "--", ...words], {
			env,
		});
		expect(JSON.parse(launched.stdout)).toMatchObject({ ok: true, profile: "mine" });
		expect(log.keys()).toEqual(["Up", "Enter"]);
		expect(await run("send", "own", "hello")).toMatchObject({ code: 0, stdout: "submitted\n" });
		await until(async () => (await run("state", "own", "0")).stdout === "busy\n", "the turn");
		expect(log.messages()).toEqual(["hello"]);
		const pid = (await server.tmux.run(["list-panes", "-t", "=at_own:", "-F", "#{pane_pid}"])).trim();
		expect(readFileSync(`/proc/${pid}/environ`, "utf8")).toContain("GREETING=hi");
	});

	it("status and kill never take a session whose name only begins alike (T40)", async () => {
		await server.tmux.run(["new-session", "-d", "-s", "at_foobar", "exec cat"]);
		expect(await run("status", "foo")).toMatchObject({ code: 0, stdout: "dead\n" });
		expect(await run("kill", "foo")).toMatchObject({ code: 0, stdout: "no session 'foo'\n" });
		expect((await run("list")).stdout.split("\n")).toContain("foobar");
	});

	it("watch ends with the file, and with idle when the turn ends without it", async () => {
		const artifact = join(server.folder, "READY.md");
		await launch("watched", ["--style", "codex", "--rollout", "events"]);
		await run("send", "watched", "work");
		expect(await run("watch", "watched", "--artifact", artifact, "--poll", "0.05")).toMatchObject({
			code: 0,
			stdout: "idle\n",
		});
		writeFileSync(artifact, "");
		expect(await run("watch", "watched", "--artifact", artifact)).toMatchObject({ code: 0, stdout: "artifact\n" });
		expect(await run("watch", "nobody", "--artifact", "/nonexistent")).toMatchObject({ code: 1, stdout: "dead\n" });
	});

	it("resume launches the newest conversation of the folder behind a symbolic link (T142)", async () => {
		const project = join(server.folder, "project");
		const bin = join(server.folder, "bin");
		const rollouts = join(server.folder, ".codex", "sessions", "2026", "07", "30");
		for (const folder of [project, bin, rollouts]) mkdirSync(folder, { recursive: true });
		symlinkSync(project, join(server.folder, "link"));
		const { words, log } = fakeCommand(server, ["--style", "codex"]);
		const script = `#!/bin/sh\necho "$@" > ${server.folder}/resumed\nexec ${words.join(" ")}\n`;
		writeFileSync(join(bin, "codex"), script, { mode: 0o755 });
		const meta = (id: string, cwd: string) => `${JSON.stringify({ type: "session_meta", payload: { id, cwd } })}\n`;
		appendFileSync(join(rollouts, "rollout-1.jsonl"), meta("mine", realpathSync(project)));
		appendFileSync(join(rollouts, "rollout-2.jsonl"), meta("other", "/home/user/other"));
		const env = { PATH: `${bin}:${process.env.PATH}` };
		const result = await runAgentTmux(server, ["resume", "again", "--cwd", join(server.folder, "link")], { env });
		expect(result).toMatchObject({ code: 0, stdout: "ready\n" });
		await until(() => log.entries().length > 0, "the agent");
		expect((await run("capture", "=at_again:0", "--raw")).code).toBe(0);
		expect(readFileSync(join(server.folder, "resumed"), "utf8")).toBe(
			"resume mine --dangerously-bypass-approvals-and-sandbox\n",
		);
		const none = await runAgentTmux(server, ["resume", "none", "--cwd", "/"], { env });
		expect(none).toMatchObject({ code: 1, stderr: expect.stringContaining("--session ID") });
	});

	it("a session that is made larger by an attached client is still found by its name", async () => {
		await launch("sized", ["--style", "codex"], ["--size", "90x25"]);
		const pane = (await server.tmux.run(["list-panes", "-t", "=at_sized:", "-F", "#{pane_id}"])).trim();
		expect(await readPane(server.tmux, pane)).toMatchObject({ width: 90, height: 25 });
		await server.tmux.run(["resize-window", "-t", "=at_sized:", "-x", "140", "-y", "45"]);
		expect((await run("status", "sized")).stdout).toBe("idle\n");
	});
});
