import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runAgentTmux } from "../testing/command.ts";
import { hasTmux, PrivateServer, until } from "../testing/tmux-server.ts";
import { captureTail, findPane } from "../tmux/pane.ts";

describe.skipIf(!hasTmux).concurrent("agent-tmux open (needs tmux)", () => {
	let server: PrivateServer;
	beforeAll(async () => {
		server = new PrivateServer();
		const folder = join(server.folder, ".config", "agent-tmux");
		mkdirSync(folder, { recursive: true });
		const command = 'exec sh -c \'printf "[%s]" "$@"; exec cat\' sh';
		const providers = {
			mine: { interactive_command: command },
			brief: { interactive_command: "read line" },
			absent: { interactive_command: "exec nowhere-to-be-found --flag" },
		};
		writeFileSync(join(folder, "config.yaml"), JSON.stringify({ providers }));
		await server.tmux.run(["-f", "/dev/null", "new-session", "-d", "-s", "home", "exec cat"]);
	});
	afterAll(() => server[Symbol.asyncDispose]());

	async function open(...flags: string[]) {
		const caller = await server.open("exec cat", { width: 160, height: 40 });
		const result = await runAgentTmux(server, ["open", "--json", ...flags], { inPane: caller });
		expect(result).toMatchObject({ code: 0, stderr: "" });
		return { caller, ...(JSON.parse(result.stdout) as { pane: string; command: string; window_id: string }) };
	}

	const format = async (pane: string, text: string) =>
		(await server.tmux.run(["display-message", "-p", "-t", pane, text])).trim();

	it("puts a named window into the session that is named, without moving the focus", async () => {
		const before = await format("=home:", "#{window_id}");
		const { pane } = await open("--provider", "mine", "--window", "-t", "home:", "-n", "worker");
		expect(await format(pane, "#{session_name} #{window_name}")).toBe("home worker");
		expect(await format("=home:", "#{window_id}")).toBe(before);
	});

	it("moves the focus only with --focus", async () => {
		const still = await open("--provider", "mine", "--split");
		expect(await format(still.caller, "#{pane_active}")).toBe("1");
		const moved = await open("--provider", "mine", "--split", "--focus");
		expect(await format(moved.pane, "#{pane_active}")).toBe("1");
		expect(moved.window_id).toBe((await findPane(server.tmux, moved.caller))?.windowId);
	});

	it("gives the first prompt as one argument, whatever is in it", async () => {
		const { pane } = await open("--provider", "mine", "--prompt", '/go it\'s "$HOME"; x && y');
		await until(async () => (await captureTail(server.tmux, pane, 5)).join("") !== "", "the arguments");
		expect((await captureTail(server.tmux, pane, 5)).join("")).toBe('[/go it\'s "$HOME"; x && y]');
	});

	it("leaves a shell in the pane when asked to, and lets the pane end with the agent otherwise", async () => {
		const kept = await open("--provider", "brief", "--shell-fallback");
		expect(kept.command).toBe('read line; exec "$SHELL"');
		await server.tmux.run(["send-keys", "-t", kept.pane, "Enter"]);
		await until(async () => /[$#]/.test((await captureTail(server.tmux, kept.pane, 5)).join("")), "the shell's prompt");
		const gone = await open("--provider", "brief");
		await server.tmux.run(["send-keys", "-t", gone.pane, "Enter"]);
		await until(async () => (await findPane(server.tmux, gone.pane)) === undefined, "the pane's end");
	});

	it("refuses a program that is not on PATH, names it, and opens no pane", async () => {
		const result = await runAgentTmux(server, ["open", "--provider", "absent", "-t", "home:", "-n", "none", "--json"]);
		expect(result).toMatchObject({
			code: 2,
			stderr:
				"agent-tmux open: nowhere-to-be-found is not on PATH; install it, put its folder on PATH, or name another " +
				"program with providers.absent.interactive_command\n",
		});
		expect(JSON.parse(result.stdout)).toMatchObject({ ok: false, error: { code: "usage" } });
		expect(await server.tmux.run(["list-windows", "-a", "-F", "#{window_name}"])).not.toMatch(/^none$/m);
	});

	it("takes a program that only a folder of the caller's PATH holds, as the new pane does", async () => {
		const bin = join(server.folder, "bin");
		mkdirSync(bin);
		writeFileSync(join(bin, "nowhere-to-be-found"), "#!/bin/sh\necho found\nexec cat\n", { mode: 0o755 });
		const env = { PATH: `${bin}:${process.env.PATH}` };
		const result = await runAgentTmux(server, ["open", "--provider", "absent", "-t", "home:", "--json"], { env });
		const { pane } = JSON.parse(result.stdout) as { pane: string };
		await until(async () => (await captureTail(server.tmux, pane, 5)).join("") === "found", "the program");
	});
});
