import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { quoteWord } from "../tmux/arguments.ts";
import { Tmux } from "../tmux/server.ts";

/** Whether tmux can be started here; tests that need it are skipped with this reason otherwise. */
export const hasTmux = canRunTmux();

/** A tmux server of its own with its own socket folder, home and environment; disposing ends it. */
export class PrivateServer implements AsyncDisposable {
	readonly folder: string;
	readonly name = `t${process.pid}`;
	readonly env: NodeJS.ProcessEnv;
	readonly tmux: Tmux;

	constructor() {
		this.folder = mkdtempSync(join(tmpdir(), "panes-"));
		this.env = {
			PATH: process.env.PATH,
			LANG: "C.UTF-8",
			SHELL: "/bin/sh",
			TERM: "xterm-256color",
			HOME: this.folder,
			CODEX_HOME: join(this.folder, ".codex"),
			TMUX_TMPDIR: this.folder,
		};
		this.tmux = new Tmux({ name: this.name }, { env: this.env });
	}

	/** Opens a detached window that runs a shell command line and returns its pane id. */
	async open(command: string, size: { width?: number; height?: number; cwd?: string } = {}): Promise<string> {
		const { width = 100, height = 30, cwd = this.folder } = size;
		const answer = await this.tmux.run([
			...["-f", "/dev/null", "new-session", "-d", "-x", String(width), "-y", String(height), "-c", cwd],
			...["-P", "-F", "#{pane_id}", command],
		]);
		return answer.trim();
	}

	/** Opens a pane that writes every byte it receives, in raw mode, to the returned file. */
	async openRecorder(size: { width?: number; height?: number } = {}): Promise<{ pane: string; log: string }> {
		const log = join(this.folder, `bytes-${Math.random().toString(36).slice(2)}.log`);
		const pane = await this.open(`stty raw -echo; printf READY; exec cat > ${quoteWord(log)}`, size);
		return { pane, log };
	}

	async [Symbol.asyncDispose](): Promise<void> {
		await this.tmux.ask(["kill-server"]);
		rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
	}
}

/** Waits until a check gives a value; the deadline is only a guard against a hang. */
export async function until<Value>(
	check: () => Value | undefined | false | Promise<Value | undefined | false>,
	what: string,
	limitMs = 30_000,
): Promise<Value> {
	const end = Date.now() + limitMs;
	for (;;) {
		const value = await check();
		if (value !== undefined && value !== false) return value;
		if (Date.now() > end) throw new Error(`still waiting for ${what} after ${limitMs} ms`);
		await new Promise((resolve) => setTimeout(resolve, 20));
	}
}

function canRunTmux(): boolean {
	try {
		execFileSync("tmux", ["-V"], { stdio: "ignore" });
		return true;
	} catch (error) {
		console.error(`tests that need tmux are skipped: ${error instanceof Error ? error.message : error}`);
		return false;
	}
}
