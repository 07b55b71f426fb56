import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { runAgentTmux } from "../testing/command.ts";
import { fakeCommand } from "../testing/fake-pane.ts";
import { hasTmux, PrivateServer, until } from "../testing/tmux-server.ts";
import { quoteWord } from "../tmux/arguments.ts";
import { findPane } from "../tmux/pane.ts";
import { killPane } from "../tmux/session.ts";

describe.skipIf(!hasTmux).concurrent("dispatching workers (needs tmux)", () => {
	let server: PrivateServer;
	beforeAll(() => {
		server = new PrivateServer();
	});
	afterAll(() => server[Symbol.asyncDispose]());

	let count = 0;

	/** A project whose provider is the fake agent in a pane, or a shell script without one. */
	async function makeProject(args: string[] = [], headless = "cat > /dev/null") {
		count += 1;
		const root = join(server.folder, `project-${count}`);
		mkdirSync(join(root, ".git"), { recursive: true });
		const { words, log } = fakeCommand(server, args);
		const config = join(root, "xdg", "agent-tmux");
		mkdirSync(config, { recursive: true });
		const interactive = `exec ${words.map(quoteWord).join(" ")}`;
		writeFileSync(
			join(config, "config.yaml"),
			JSON.stringify({
				agent: { workers: "fake" },
				providers: { fake: { interactive_command: interactive, headless_command: headless } },
			}),
		);
		const caller = await server.open("exec cat", { cwd: root, width: 200, height: 50 });
		const env = { XDG_CONFIG_HOME: join(root, "xdg"), AGENT_TMUX_AGENT_WORKERS: "fake" };
		const run = (words: string[], options: { input?: string; outside?: boolean } = {}) =>
			runAgentTmux(server, ["dispatch", ...words], {
				...{ env: { ...env, HOME: root }, cwd: root },
				...(options.outside ? {} : { inPane: caller }),
				input: options.input ?? "do the work",
			});
		const file = (name: string) => join(root, ".agent-dispatch", "k1", name);
		const record = () => parse(readFileSync(file("apply.yaml"), "utf8"));
		const state = async () => (await run(["status", "k1", "apply"])).stdout.trim();
		return { root, run, file, record, state, log, caller, interactive };
	}

	async function openReady(project: Awaited<ReturnType<typeof makeProject>>): Promise<string> {
		expect((await project.run(["open", "k1", "apply"])).code).toBe(0);
		await until(() => project.log.entries().some((entry) => entry.type === "started"), "the worker");
		return project.record().pane;
	}

	it("open records pane, window, process and the command as it was, with the prompt on disk (T143)", async () => {
		const project = await makeProject();
		const result = await project.run(["open", "k1", "apply"]);
		expect(result.stdout).toMatch(/^opened k1\/apply \(pane %\d+, split, title agent-k1-apply\)\n$/);
		const record = project.record();
		const pane = await findPane(server.tmux, record.pane);
		expect(record).toEqual({
			spawn_cmd: project.interactive,
			started_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
			pane: record.pane,
			window: pane?.windowId,
			pane_pid: pane?.pid,
		});
		expect(readFileSync(project.file("apply-prompt.md"), "utf8")).toBe("do the work");
		expect(statSync(project.file("apply.yaml")).mode & 0o777).toBe(0o600);
	});

	it("open on an unreachable server writes nothing (T144)", async () => {
		const project = await makeProject();
		expect((await project.run(["open", "k1", "apply", "-L", "nobody"])).code).toBe(1);
		expect(existsSync(project.file("apply.yaml"))).toBe(false);
		expect(existsSync(project.file("apply-prompt.md"))).toBe(false);
	});

	it("open refuses a worker whose program is not on PATH, and writes nothing", async () => {
		const project = await makeProject();
		const config = join(project.root, "xdg", "agent-tmux", "config.yaml");
		writeFileSync(config, JSON.stringify({ providers: { fake: { interactive_command: "nowhere-to-be-found -x" } } }));
		expect(await project.run(["open", "k1", "apply"])).toEqual({
			...{ code: 2, stdout: "" },
			stderr:
				"agent-tmux dispatch: nowhere-to-be-found is not on PATH; install it, put its folder on PATH, or name another " +
				"program with providers.fake.interactive_command\n",
		});
		expect(existsSync(project.file("apply-prompt.md"))).toBe(false);
	});

	it("ready and deliver hand over a pointer, once, and never type into a working worker (T145, T147)", async () => {
		const project = await makeProject(["--turn-forever"]);
		await openReady(project);
		expect((await project.run(["ready", "k1", "apply"])).stdout).toBe("ready\n");
		expect((await project.run(["deliver", "k1", "apply"])).stdout).toMatch(
			/prompt \.agent-dispatch\/k1\/apply-prompt\.md\)\n$/,
		);
		expect(project.log.messages()).toEqual(["Read .agent-dispatch/k1/apply-prompt.md and execute it."]);
		expect(project.record().delivered).toBe(true);
		expect(await project.state()).toBe("running");
		const keys = project.log.keys().length;
		for (const verb of ["deliver", "ready"]) {
			expect(await project.run([verb, "k1", "apply"])).toMatchObject({
				code: 1,
				stderr: expect.stringContaining("working"),
			});
		}
		expect(project.log.keys().length).toBe(keys);
	});

	it("a result means done although the pane lives, also while waiting (T146)", async () => {
		const project = await makeProject();
		await openReady(project);
		const waiting = project.run(["wait", "k1", "apply", "--timeout", "30"]);
		writeFileSync(project.file("apply-result.yaml"), "status: success\n");
		expect(await waiting).toMatchObject({ code: 0, stdout: "done\n" });
		expect(JSON.parse((await project.run(["status", "k1", "apply", "--json"])).stdout)).toMatchObject({
			...{ key: "k1", stage: "apply", state: "done", mode: "pane", delivered: false },
		});
	});

	it("a continuation takes the old result away, and puts it back exactly when it does not arrive (T148, T149)", async () => {
		const project = await makeProject();
		await openReady(project);
		await project.run(["deliver", "k1", "apply"]);
		writeFileSync(project.file("apply-result.yaml"), "status: success\n");
		chmodSync(project.file("apply-result.yaml"), 0o640);
		writeFileSync(join(project.root, "more.md"), "more");
		expect((await project.run(["deliver", "k1", "apply", "--prompt-file", "more.md"])).code).toBe(0);
		expect(existsSync(project.file("apply-result.yaml"))).toBe(false);
		expect(await project.state()).toBe("running");
		const deaf = await makeProject(["--ignore-enter", "99"]);
		await openReady(deaf);
		writeFileSync(deaf.file("apply-result.yaml"), "status: failure\n");
		chmodSync(deaf.file("apply-result.yaml"), 0o640);
		expect((await deaf.run(["deliver", "k1", "apply"])).code).toBe(1);
		expect(readFileSync(deaf.file("apply-result.yaml"), "utf8")).toBe("status: failure\n");
		expect(statSync(deaf.file("apply-result.yaml")).mode & 0o777).toBe(0o640);
		expect(deaf.record()).not.toHaveProperty("delivered");
		expect(await deaf.state()).toBe("done");
	});

	it("a pane that is gone makes the worker orphaned; it can be killed again and opened again (T150, T153)", async () => {
		const project = await makeProject();
		const pane = await openReady(project);
		expect((await project.run(["open", "k1", "apply"])).stderr).toContain("running");
		await killPane(server.tmux, pane);
		expect(await project.state()).toBe("orphaned");
		expect((await project.run(["kill", "k1", "apply"])).stdout).toBe("k1/apply was already dead\n");
		expect((await project.run(["deliver", "k1", "apply"])).stderr).toContain("restart");
		expect((await project.run(["open", "k1", "apply"])).code).toBe(0);
	});

	it("open may start over after a worker that is done, and forgets its result (T153)", async () => {
		const project = await makeProject();
		const pane = await openReady(project);
		writeFileSync(project.file("apply-result.yaml"), "status: success\n");
		expect((await project.run(["open", "k1", "apply"])).code).toBe(0);
		expect(project.record().pane).not.toBe(pane);
		expect(await project.state()).toBe("running");
	});

	it("another process under the recorded pane id is never touched (T151)", async () => {
		const project = await makeProject();
		const pane = await openReady(project);
		const record = project.record();
		writeFileSync(project.file("apply.yaml"), JSON.stringify({ ...record, pane_pid: record.pane_pid + 1 }));
		expect(await project.state()).toBe("orphaned");
		expect((await project.run(["kill", "k1", "apply"])).stdout).toContain("already dead");
		for (const verb of ["ready", "deliver", "logs"]) {
			expect(await project.run([verb, "k1", "apply"])).toMatchObject({
				code: 1,
				stderr: expect.stringContaining("dispatch restart k1 apply"),
			});
		}
		writeFileSync(project.file("apply-result.yaml"), "status: success\n");
		expect((await project.run(["reap", "k1", "apply"])).stdout).toContain("already gone");
		expect(await findPane(server.tmux, pane)).toBeDefined();
		expect(project.log.keys()).toEqual([]);
	});

	it("a second worker stacks below the first, whatever its title says, and ignores records of other servers (T155, T156)", async () => {
		const project = await makeProject();
		const first = await openReady(project);
		await server.tmux.run(["select-pane", "-t", first, "-T", "renamed by the agent"]);
		mkdirSync(join(project.root, ".agent-dispatch", "far"), { recursive: true });
		const far = { spawn_cmd: "x", started_at: "", pane: project.caller, server: "elsewhere" };
		writeFileSync(join(project.root, ".agent-dispatch", "far", "apply.yaml"), JSON.stringify(far));
		const second = JSON.parse((await project.run(["open", "k2", "apply", "--json"])).stdout);
		const format = "#{pane_id} #{pane_left} #{pane_top}";
		const rows = (await server.tmux.run(["list-panes", "-t", project.caller, "-F", format])).trim().split("\n");
		const at = (id: string) =>
			rows
				.find((row) => row.startsWith(`${id} `))
				?.split(" ")
				.slice(1)
				.map(Number) ?? [];
		expect(rows.length).toBe(3);
		expect(at(second.pane)[0]).toBe(at(first)[0]);
		expect(at(second.pane)[1]).toBeGreaterThan(at(first)[1]!);
	});

	it("a worker for whom a split would be too small gets a window of a fixed size", async () => {
		const project = await makeProject();
		await openReady(project);
		await project.run(["open", "k2", "apply"]);
		const third = await project.run(["open", "k3", "apply", "--json"]);
		expect(third.stderr).toContain("a split would be only");
		const placed = JSON.parse(third.stdout);
		const pane = await findPane(server.tmux, placed.pane);
		expect([pane?.width, pane?.height]).toEqual([200, 50]);
		expect(pane?.windowId).not.toBe((await findPane(server.tmux, project.caller))?.windowId);
	});

	it("restart keeps the bytes of the prompt and needs one (T154)", async () => {
		const project = await makeProject(
			[],
			"cat > seen.txt; printf 'status: success' > .agent-dispatch/k1/apply-result.yaml",
		);
		const prompt = "  bytes\tkept\n\n";
		await project.run(["start", "k1", "apply", "--headless"], { input: prompt });
		await until(async () => (await project.state()) === "done", "the run");
		expect((await project.run(["restart", "k1", "apply", "--headless"], { input: "other" })).code).toBe(0);
		await until(async () => (await project.state()) === "done", "the second run");
		expect(readFileSync(join(project.root, "seen.txt"), "utf8")).toBe(prompt);
		expect((await project.run(["restart", "k2", "apply"])).stderr).toContain("no prompt on disk");
		expect(existsSync(join(project.root, ".agent-dispatch", "k2"))).toBe(false);
	});

	it.each([
		["printf 'status: success' > .agent-dispatch/k1/apply-result.yaml; echo said", [], "done"],
		["echo said", [], "failed (no-result)"],
		["echo said; exit 7", [], "failed"],
		["echo said; sleep 600", ["--timeout", "1"], "failed"],
	])("headless %j %j ends as %s with its log (T158)", async (command, flags, state) => {
		const project = await makeProject([], command);
		expect((await project.run(["start", "k1", "apply", "--headless", ...flags])).code).toBe(0);
		expect((await project.run(["wait", "k1", "apply", "--timeout", "30"])).stdout).toBe(`${state}\n`);
		expect((await project.run(["logs", "k1", "apply"])).stdout).toBe("said\n");
		if (flags.length > 0) expect(readFileSync(project.file("apply.exit"), "utf8").trim()).toBe("124");
	});

	it("agy gets a terminal for its output and its prompt from the file, and is failed when it says nothing (R19)", async () => {
		const project = await makeProject();
		const agy = ": {model}; [ -t 1 ] && { cat; echo said; }";
		const config = { agent: { workers: "agy" }, providers: { agy: { headless_command: agy } } };
		writeFileSync(join(project.root, "xdg", "agent-tmux", "config.yaml"), JSON.stringify(config));
		const start = ["start", "k1", "apply", "--headless", "--provider", "agy", "--timeout", "60"];
		await project.run(start, { input: "the prompt\n" });
		expect((await project.run(["wait", "k1", "apply", "--timeout", "30"])).stdout).toBe("failed (no-result)\n");
		expect((await project.run(["logs", "k1", "apply"])).stdout.replaceAll("\r", "")).toBe("the prompt\nsaid\n");
	});

	it("a headless worker that is killed is orphaned, with all its processes (T158, T159)", async () => {
		const project = await makeProject([], "sleep 600 & sleep 600");
		await project.run(["start", "k1", "apply", "--headless"]);
		expect(await project.state()).toBe("running");
		expect((await project.run(["wait", "k1", "apply", "--timeout", "0.1"])).stdout).toBe("running\n");
		expect((await project.run(["kill", "k1", "apply"])).stdout).toBe("killed k1/apply\n");
		await until(async () => (await project.state()) === "orphaned", "its end");
		const group = project.record().pgid;
		await until(() => !listGroup(group).some((state) => state !== "Z"), "the end of all its processes");
	});

	it("start refuses to land in a pane or on the caller, and names the other way", async () => {
		const project = await makeProject();
		expect(await project.run(["start", "k1", "apply", "--pane"])).toMatchObject({
			code: 1,
			stderr: expect.stringContaining("dispatch open"),
		});
		expect(await project.run(["start", "k1", "apply", "--provider", "claude"])).toMatchObject({
			code: 1,
			stderr: expect.stringContaining("--headless"),
		});
		expect(existsSync(project.file("apply.yaml"))).toBe(false);
	});

	it("pane verbs refuse a headless worker and logs a pane worker", async () => {
		const project = await makeProject([], "sleep 600");
		await project.run(["start", "k1", "apply", "--headless"]);
		expect((await project.run(["deliver", "k1", "apply"])).stderr).toContain("headless");
		await project.run(["kill", "k1", "apply"]);
		await until(async () => (await project.state()) === "orphaned", "its end");
		await openReady(project);
		expect((await project.run(["logs", "k1", "apply"])).stderr).toContain("agent-tmux capture %");
	});

	it("reap closes only the pane of a finished worker and keeps its files (T157)", async () => {
		const project = await makeProject();
		const pane = await openReady(project);
		expect((await project.run(["reap", "k1", "apply"])).stdout).toBe("kept k1/apply: the worker is running\n");
		writeFileSync(project.file("apply-result.yaml"), "status: success\n");
		expect((await project.run(["reap", "k1", "apply"])).stdout).toBe("reaped k1/apply\n");
		expect(await findPane(server.tmux, pane)).toBeUndefined();
		expect(await project.state()).toBe("done");
		expect(await project.run(["reap", "nobody", "apply"])).toMatchObject({ code: 1 });
	});

	it("clean removes one key or the orphaned ones and touches no worker (T160)", async () => {
		const project = await makeProject();
		const pane = await openReady(project);
		await project.run(["open", "k2", "apply"]);
		const other = parse(readFileSync(join(project.root, ".agent-dispatch", "k2", "apply.yaml"), "utf8")).pane;
		await killPane(server.tmux, other);
		expect((await project.run(["clean", "--orphans"])).stdout).toBe("removed k2\n");
		expect(existsSync(project.file("apply.yaml"))).toBe(true);
		expect((await project.run(["clean", "k1"])).stdout).toBe("removed k1\n");
		expect(await findPane(server.tmux, pane)).toBeDefined();
		expect((await project.run(["clean"])).code).toBe(2);
	});

	it.each(["../x", "A", "", "a/b", "-x"])("refuses the key %j", async (key) => {
		const project = await makeProject();
		expect((await project.run(["open", "--", key, "apply"])).code).toBe(2);
	});
});

/** States of the processes of a group; an ended one that nobody collected is a zombie. */
function listGroup(pgid: number): string[] {
	return execFileSync("ps", ["-axo", "pgid=,stat="], { encoding: "utf8" })
		.split("\n")
		.flatMap((line) => (line.trim().startsWith(`${pgid} `) ? [line.trim().split(/\s+/)[1]?.[0] ?? ""] : []));
}
