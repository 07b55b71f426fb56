import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { fakeAgentPath } from "@prime-agent/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { withShellFallback } from "../compose/shell.ts";
import { LEGACY_STATE_OPTION, STATE_OPTION } from "../drive/agent-state.ts";
import { runAgentTmux } from "../testing/command.ts";
import { HOOKS, startFake } from "../testing/fake-pane.ts";
import { hasTmux, PrivateServer, until } from "../testing/tmux-server.ts";
import { quoteWord } from "../tmux/arguments.ts";
import { findPane } from "../tmux/pane.ts";
import { readPaneOptions, setPaneOptions } from "../tmux/session.ts";

describe.skipIf(!hasTmux).concurrent("what agent-tmux makes of a pane's state (needs tmux)", () => {
	let server: PrivateServer;
	beforeAll(async () => {
		server = new PrivateServer();
		await server.open("exec cat");
	});
	afterAll(() => server[Symbol.asyncDispose]());

	const run = (...words: string[]) => runAgentTmux(server, words);
	const stateOf = async (pane: string) => JSON.parse((await run("capture", pane, "--json")).stdout).agent_state;
	const set = (pane: string, value: string, option = STATE_OPTION) =>
		setPaneOptions(server.tmux, pane, { [option]: value });

	/** A pane whose agent is called codex and runs below a shell that takes over when it ends. */
	async function openWrapped(): Promise<string> {
		const program = join(server.folder, "codex");
		await until(() => tryLink(program), "the link");
		const command = withShellFallback([process.execPath, program, "--style", "codex"].map(quoteWord).join(" "));
		const pane = await server.open(command);
		await until(async () => (await run("capture", pane, "--raw")).stdout.includes("›"), "its composer");
		return pane;
	}

	it("send to a dead pane exits 1 and the pane gets nothing (T34)", async () => {
		const pane = await server.open("exec cat");
		await server.tmux.run(["set-option", "-p", "-t", pane, "remain-on-exit", "on"]);
		process.kill((await findPane(server.tmux, pane))?.pid ?? 0, "SIGKILL");
		await until(async () => (await findPane(server.tmux, pane))?.isDead, "its end");
		expect(await run("send", pane, "hello", "--json")).toMatchObject({
			code: 1,
			stdout: expect.stringContaining('"reason":"pane_missing"'),
		});
		expect((await server.tmux.run(["capture-pane", "-p", "-t", pane])).includes("hello")).toBe(false);
	});

	it("capture --raw prints the very rows of tmux (T37)", async () => {
		const pane = await server.open("seq 1 60; printf 'a  b\\tc\\n\\nlast'; exec cat", { height: 20 });
		await until(async () => (await run("capture", pane, "--raw")).stdout.includes("last"), "the rows");
		const tail = (await server.tmux.run(["capture-pane", "-p", "-t", pane, "-S", "-100"])).trimEnd().split("\n");
		expect((await run("capture", pane, "--raw", "-l", "30")).stdout).toBe(`${tail.slice(-30).join("\n")}\n`);
	});

	it("capture --classify guesses which answer the last rows ask for", async () => {
		const { pane } = await startFake(server, ["--wall", "Trust this folder?"]);
		const json = JSON.parse((await run("capture", pane, "--classify", "--json")).stdout);
		expect(json.prompt).toEqual({ class: "numbered_menu", line: "❯ 1. Yes, I trust it" });
		expect((await run("capture", pane, "--classify")).stdout).toContain("prompt: numbered_menu\n---\n");
		expect((await run("capture", pane, "--classify", "--raw")).code).toBe(2);
	});

	it("a state without a process holds below a shell as long as an agent runs there (T47, T48)", async () => {
		const pane = await openWrapped();
		expect((await findPane(server.tmux, pane))?.command).toBe("sh");
		await set(pane, "active:1");
		expect(await stateOf(pane)).toBe("active");
		await run("send", pane, "--key", "C-c", "--force");
		const shell = await server.open('exec "$SHELL"');
		await set(shell, "active:1");
		expect(await stateOf(shell)).toBeNull();
	});

	it("the current name of the state wins over the retired one, which counts alone too (T49, T50)", async () => {
		const pane = await server.open("exec cat");
		await until(async () => (await findPane(server.tmux, pane))?.command === "cat", "the program");
		await set(pane, "waiting:1", LEGACY_STATE_OPTION);
		expect(await stateOf(pane)).toBe("waiting");
		await set(pane, "idle:1");
		expect(await stateOf(pane)).toBe("idle");
	});

	it("a hook whose input is a terminal does not wait for it (T53)", async () => {
		const main = fileURLToPath(new URL("../main.ts", import.meta.url));
		const hook = [process.execPath, "--no-warnings", main, "hook", "--agent", "claude", "idle"];
		const pane = await server.open(`${hook.map(quoteWord).join(" ")}; echo "code $?"; exec cat`);
		await until(async () => (await run("capture", pane, "--raw")).stdout === "code 0\n", "its end");
		expect((await readPaneOptions(server.tmux, pane)).get(STATE_OPTION)).toMatch(/^idle:\d+$/);
	});

	it("a wall that a person answers with a key is ready behind it (T67)", async () => {
		const { pane, log } = await startFake(server, ["--wall", "Trust this folder?"]);
		expect((await run("ready", pane)).stdout).toMatch(/^parked\n/);
		expect((await run("send", pane, "--key", "Enter", "--force")).stdout).toBe(`sent ${pane}\n`);
		await until(() => log.keys().length > 0, "the key");
		expect((await run("ready", pane)).stdout).toBe("ready\n");
	});

	it.each([
		["idle", "--force"],
		["unknown", "plain"],
		["unknown", "--answer"],
		["unknown", "--force"],
	])(
		"an agent that is %s gets a message sent %s, with a warning only where nothing is known (T86, T87)",
		async (state, mode) => {
			const { pane, log } = await startFake(server, []);
			if (state !== "unknown") await set(pane, `${state}:1:${process.pid}`);
			const result = await run("send", pane, "hello", ...(mode === "plain" ? [] : [mode]));
			expect(result).toMatchObject({ code: 0, stdout: `delivered ${pane}\n` });
			expect(result.stderr.includes("no agent state")).toBe(state === "unknown" && mode !== "--force");
			expect(log.messages()).toEqual(["hello"]);
		},
	);

	it("a refused message leaves no byte in the pane (T86)", async () => {
		const { pane, log } = await startFake(server, []);
		for (const state of ["active", "waiting"]) {
			await set(pane, `${state}:1:${process.pid}`);
			expect((await run("send", pane, "hello")).code).toBe(1);
		}
		expect(log.entries()).toEqual([{ type: "started" }]);
		expect((await run("capture", pane, "--raw")).stdout).toBe(">\n");
	});

	it("an agent that calls itself idle behind a wall gets no Enter, and the wall stays (T93)", async () => {
		const { pane, log } = await startFake(server, ["--wall", "Trust this folder?"]);
		await set(pane, `idle:1:${process.pid}`);
		expect(await run("send", pane, "hello")).toMatchObject({ code: 1, stdout: "" });
		expect(log.keys()).toEqual([]);
		expect((await run("capture", pane, "--raw")).stdout).toContain("Trust this folder?");
	});

	it("await ends with waiting when the agent's hook says that it asks a person (T103)", async () => {
		const { pane } = await startFake(server, ["--ask", "--turn", "200", "--hooks", HOOKS]);
		await run("send", pane, "may I");
		await until(async () => (await stateOf(pane)) !== null, "the hook");
		expect(await run("await", pane, "--until", "idle,waiting", "--timeout", "60")).toMatchObject({
			code: 0,
			stdout: "waiting\n",
		});
	});

	it("await --ready waits while an agent starts, and tells the wall that it shows then (T112)", async () => {
		const up = join(server.folder, "up");
		const { pane, log } = await startFake(server, ["--boot-until", up, "--wall", "Trust this folder?"], {
			isUp: false,
		});
		expect((await run("await", pane, "--ready", "--timeout", "0.1")).stdout).toBe("running\n");
		const waiting = run("await", pane, "--ready", "--timeout", "60");
		writeFileSync(up, "");
		expect(await waiting).toMatchObject({
			code: 0,
			stdout: `parked ${pane}\n`,
			stderr: expect.stringContaining("Trust"),
		});
		expect(log.keys().filter((key) => key === "Enter")).toEqual([]);
	});

	it("await of a pane that is killed exits 1 with gone as the reason (T106)", async () => {
		await using own = new PrivateServer();
		const pane = await own.open("exec cat");
		await setPaneOptions(own.tmux, pane, { [STATE_OPTION]: `active:1:${process.pid}` });
		await own.open("exec cat");
		// The wait itself reads the pane's options first; only then is the pane gone.
		await own.tmux.run(["set-hook", "-g", "after-show-options", `kill-pane -t ${pane}`]);
		const result = await runAgentTmux(own, ["await", pane, "--timeout", "60", "--json"]);
		expect(result.code).toBe(1);
		expect(JSON.parse(result.stdout)).toMatchObject({ ok: false, error: { reason: "gone" } });
	});

	it("await --any names the pane that was first (T111)", async () => {
		const panes = [await server.open("exec cat"), await server.open("exec cat")];
		await set(panes[0]!, `active:1:${process.pid}`);
		await set(panes[1]!, `idle:1:${process.pid}`);
		expect(await run("await", ...panes, "--any")).toMatchObject({ code: 0, stdout: `idle ${panes[1]}\n` });
	});

	it("process knows an agent below a shell by its name, and by its pid where the name says nothing (T115)", async () => {
		const pane = await openWrapped();
		const tree = JSON.parse((await run("process", pane, "--json")).stdout);
		expect(tree).toMatchObject({ has_agent: true, processes: [{ classification: "other" }] });
		expect(tree.processes[0].children[0]).toMatchObject({ classification: "agent" });
	});
});

function tryLink(path: string): boolean {
	try {
		symlinkSync(fakeAgentPath, path);
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
	}
	return true;
}
