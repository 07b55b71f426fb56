import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const ROOT = resolve(import.meta.dirname, "..");
const LAUNCHER = join(ROOT, "agent-tmux.sh");
const SCREENS = join(ROOT, "packages/panes/fixtures/screens");

function hasTmux(): boolean {
	try {
		execFileSync("tmux", ["-V"], { stdio: "ignore" });
		return true;
	} catch (error) {
		console.error(`tests that need tmux are skipped: ${(error as Error).message}`);
		return false;
	}
}

interface Run {
	readonly code: number | null;
	readonly stdout: string;
	readonly stderr: string;
}

describe.skipIf(!hasTmux())("agent-tmux.sh as a process (needs tmux)", () => {
	let home: string;
	let env: NodeJS.ProcessEnv;
	beforeAll(() => {
		home = mkdtempSync(join(tmpdir(), "agent-tmux-"));
		env = {
			PATH: process.env.PATH,
			HOME: home,
			TMUX_TMPDIR: home,
			LANG: "C",
			SHELL: "/bin/sh",
			TERM: "xterm-256color",
		};
	});
	afterAll(() => {
		execFileSync("sh", ["-c", "tmux -L e2e kill-server || true"], { env, stdio: "ignore" });
		rmSync(home, { recursive: true, force: true, maxRetries: 5 });
	});

	function start(words: string[]) {
		return spawn(LAUNCHER, ["--source", ...words], { env, cwd: home });
	}

	function run(words: string[], input = ""): Promise<Run> {
		return new Promise((done, reject) => {
			const child = start(words);
			let stdout = "";
			let stderr = "";
			child.stdout.setEncoding("utf8").on("data", (text: string) => {
				stdout += text;
			});
			child.stderr.setEncoding("utf8").on("data", (text: string) => {
				stderr += text;
			});
			child.on("error", reject);
			child.on("close", (code) => done({ code, stdout, stderr }));
			child.stdin.end(input);
		});
	}

	/** A signal that comes before the program listens ends it the default way, so it is given more time then. */
	async function interruptWait(): Promise<{ code: number | null; stderr: string }> {
		for (let delay = 500; ; delay *= 2) {
			const child = start(["wait", "two", "600", "-L", "e2e"]);
			let stderr = "";
			child.stderr.setEncoding("utf8").on("data", (text: string) => {
				stderr += text;
			});
			const closed = new Promise<number | null>((done) => child.on("close", done));
			const timer = setTimeout(() => child.kill("SIGINT"), delay);
			const code = await closed;
			clearTimeout(timer);
			if (code !== null || delay > 20_000) return { code, stderr };
		}
	}

	const shell = ["--profile", "generic", "--ready", "ready>", "--", "sh", "-c", "printf 'ready> '; exec cat"];

	it("launches, lists, reads and ends a session; names and screens survive a C locale", async () => {
		expect(await run(["launch", "one", "-L", "e2e", ...shell])).toEqual({ code: 0, stdout: "ready\n", stderr: "" });
		expect((await run(["list", "-L", "e2e"])).stdout).toBe("one\n");
		execFileSync("tmux", ["-L", "e2e", "send-keys", "-t", "at_one", "-l", "grün ›"], { env });
		let peeked = "";
		for (let end = Date.now() + 30_000; Date.now() < end && !peeked.includes("grün ›"); ) {
			peeked = (await run(["peek", "one", "-L", "e2e"])).stdout;
		}
		expect(peeked).toContain("grün ›");
		expect((await run(["state", "one", "-L", "e2e"])).stdout).toBe("idle-unconfirmed\n");
		expect((await run(["kill", "one", "-L", "e2e"])).stdout).toBe("killed one\n");
		expect((await run(["state", "one", "-L", "e2e"])).stdout).toBe("dead\n");
		expect((await run(["kill", "one", "-L", "e2e"])).stdout).toBe("no session 'one'\n");
	});

	it("stops a wait on SIGINT with exit code 1 and leaves the session", async () => {
		const busy = ["--profile", "generic", "--ready", "^ready", "--busy", "working"];
		await run(["launch", "two", "-L", "e2e", ...busy, "--", "sh", "-c", "echo ready; read x; echo working; exec cat"]);
		execFileSync("tmux", ["-L", "e2e", "send-keys", "-t", "at_two", "Enter"], { env });
		for (let word = ""; word !== "busy\n"; ) word = (await run(["status", "two", "-L", "e2e"])).stdout;
		expect(await interruptWait()).toEqual({ code: 1, stderr: expect.stringContaining("stopped by SIGINT") });
		expect((await run(["status", "two", "-L", "e2e"])).stdout).toBe("busy\n");
	});

	it("classifies a recorded screen with and without colours", async () => {
		const screen = join(SCREENS, "claude/2.1.332/approval-prompt-120x40");
		const plain = await run(["classify", "--cli", "claude", "--screen", `${screen}.txt`, "--json"]);
		expect(JSON.parse(plain.stdout)).toMatchObject({ word: "blocked" });
		const styled = await run(["classify", "--cli", "claude", "--screen", `${screen}.txt`, "--ansi", `${screen}.ansi`]);
		expect(styled.stdout).toBe("blocked\n");
		expect((await run(["classify", "--cli", "claude", "--screen", `${screen}.txt`, "--dead"])).stdout).toBe("dead\n");
	});

	it("keeps data on stdout and words for people on stderr", async () => {
		const wrong = await run(["status"]);
		expect(wrong).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining("usage: agent-tmux status") });
		const failed = await run(["peek", "nobody", "-L", "e2e", "--json"]);
		expect(failed.code).toBe(1);
		expect(JSON.parse(failed.stdout)).toMatchObject({ ok: false, error: { reason: "session_missing" } });
		expect(await run(["hook", "--agent", "claude", "idle"], "{}")).toEqual({ code: 0, stdout: "", stderr: "" });
	});
});
