import { spawnSync } from "node:child_process";
import { appendFileSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type FakeOptions, parseFakeOptions } from "./options.ts";
import { drawFake } from "./screen.ts";

const ESC = "\u001b";

/** A bracket of a paste, an escape sequence, or one character. */
const KEYS = new RegExp(`${ESC}\\[20[01]~|${ESC}\\[[0-9;]*[A-Za-z~]|${ESC}O[A-Z]|[\\s\\S]`, "gu");

/**
 * A terminal program that behaves like an agent CLI: a composer, turns, walls and their faults. It logs what it
 * really received as JSON lines, so that tests need not trust the screen.
 */
class FakeAgent {
	readonly #options: FakeOptions;
	readonly #rollout: string | undefined;
	readonly #transcript: string[] = [];
	#queue: string[] = [];
	#draft = "";
	#isBusy = false;
	#isAsking = false;
	#wallAt: 0 | 1 | undefined;
	#isPasting = false;
	#pastedAt = 0;
	#isWedged = false;
	#enters = 0;
	#turns = 0;
	#tick = 0;
	#isDrawing = true;

	constructor(options: FakeOptions) {
		this.#options = options;
		if (options.wall !== undefined) this.#wallAt = options.wallNo ? 1 : 0;
		if (options.prelude !== "") this.#transcript.push(...options.prelude.split("\\n"));
		this.#rollout = options.rollout === undefined ? undefined : openRollout();
	}

	async run(): Promise<void> {
		const options = this.#options;
		if (Number.isFinite(options.die)) setTimeout(() => process.exit(0), options.die);
		if (options.boot > 0) await pause(options.boot);
		while (options.bootUntil !== undefined && !existsSync(options.bootUntil)) await pause(20);
		process.stdin.setRawMode?.(true);
		if (options.printed) {
			process.stdout.write("❯ /cmd\r\n");
			setInterval(() => undefined, 60_000);
			return;
		}
		process.stdin.setEncoding("utf8");
		process.stdin.on("data", (data: string) => this.#receive(data));
		process.stdout.write("\u001b[?2004h");
		process.stdout.on("resize", () => this.#draw());
		if (options.result !== undefined) {
			setTimeout(() => writeFileSync(options.result ?? "", "status: success\n"), options.resultAfter);
		}
		if (options.blank > 0) await this.#drawLater(options.blank);
		if (options.animate > 0) this.#animate(options.animate);
		this.#draw();
		this.#log({ type: "started" });
	}

	async #drawLater(ms: number): Promise<void> {
		this.#isDrawing = false;
		await pause(ms);
		this.#isDrawing = true;
	}

	#animate(ms: number): void {
		const timer = setInterval(() => {
			this.#tick += 1;
			this.#transcript[0] = `loading ${this.#tick}`;
			this.#draw();
		}, 30);
		setTimeout(() => clearInterval(timer), ms);
	}

	#receive(data: string): void {
		const isWall = this.#wallAt !== undefined;
		for (const key of data.match(KEYS) ?? []) this.#take(key);
		if (isWall && this.#options.wallLag > 0) setTimeout(() => this.#draw(), this.#options.wallLag);
		else this.#draw();
	}

	#take(key: string): void {
		if (key === "\u001b[200~") {
			this.#isPasting = true;
			this.#log({ type: "paste" });
		} else if (key === "\u001b[201~") {
			this.#isPasting = false;
			this.#pastedAt = Date.now();
		} else if (this.#isPasting) this.#insert(key === "\r" ? "\n" : key);
		else if (this.#wallAt !== undefined) this.#answerWall(key);
		else if (this.#isAsking) this.#answerQuestion(key);
		else this.#press(key);
	}

	#insert(text: string): void {
		if (this.#isBusy && this.#options.endOnInput) this.#endTurn();
		if (this.#wallAt === undefined && !this.#isAsking && !this.#isWedged) this.#draft += text;
	}

	#answerWall(key: string): void {
		this.#log({ type: "key", key: nameKey(key) });
		if (nameKey(key) === "Down" || nameKey(key) === "Up") this.#wallAt = this.#wallAt === 0 ? 1 : 0;
		if (key !== "\r" || this.#options.login) return;
		if (this.#wallAt === 1) process.exit(1);
		this.#wallAt = undefined;
	}

	#answerQuestion(key: string): void {
		this.#log({ type: "key", key: nameKey(key) });
		if (key !== "\r") return;
		this.#isAsking = false;
		this.#report("idle");
	}

	#press(key: string): void {
		const name = nameKey(key);
		if (name !== key) this.#log({ type: "key", key: name });
		if (name === "Enter") this.#pressEnter();
		else if (name === "Tab") this.#pressTab();
		else if (name === "C-u") this.#clear();
		else if (name === "C-l") this.#repaint();
		else if (name === "Escape" || name === "C-c") this.#interrupt();
		else if (name === "Backspace") this.#draft = this.#draft.slice(0, -1);
		else if ((key.codePointAt(0) ?? 0) >= 0x20) this.#insert(key);
	}

	#pressEnter(): void {
		this.#enters += 1;
		if (this.#options.wedge > 0 && Date.now() - this.#pastedAt < this.#options.wedge) this.#isWedged = true;
		if (this.#options.wedgeOnce && this.#enters === 1 && this.#pastedAt > 0) this.#isWedged = true;
		if (this.#isWedged || this.#enters <= this.#options.ignoreEnter || this.#draft === "") return;
		if (this.#isBusy && this.#options.style === "codex") return;
		this.#submit();
	}

	#pressTab(): void {
		if (this.#options.style !== "codex" || this.#options.ignoreTab || this.#draft === "") return;
		this.#submit();
	}

	#submit(): void {
		const text = this.#draft;
		this.#draft = "";
		if (this.#isBusy) this.#queue.push(text);
		else this.#startTurn(text);
	}

	#clear(): void {
		this.#isWedged = false;
		const cut = this.#options.killLine ? this.#draft.lastIndexOf("\n") : -1;
		this.#draft = cut < 0 ? "" : this.#draft.slice(0, cut);
	}

	/** Clears the screen first and draws it again later, as some programs do for a moment. */
	#repaint(): void {
		process.stdout.write(`${ESC}[H${ESC}[J`);
		void this.#drawLater(this.#options.repaint).then(() => this.#draw());
	}

	#interrupt(): void {
		if (!this.#isBusy) return;
		this.#transcript.push("■ Conversation interrupted");
		this.#writeEvent("turn_aborted");
		this.#endTurn();
	}

	#startTurn(text: string): void {
		const mark = this.#options.style === "claude" ? "❯" : "›";
		this.#log({ type: "message", text });
		this.#transcript.push("", ...text.split("\n").map((line, index) => `${index === 0 ? mark : " "} ${line}`), "");
		this.#turns += 1;
		const turn = this.#turns;
		this.#isBusy = true;
		this.#writeEvent("task_started");
		this.#report("active");
		const grow = setInterval(() => {
			this.#tick += 1;
			if (!this.#isBusy || turn !== this.#turns) return clearInterval(grow);
			this.#writeEvent("token_count");
			this.#draw();
		}, 50);
		if (!Number.isFinite(this.#options.turn)) return;
		setTimeout(() => {
			if (!this.#isBusy || turn !== this.#turns) return;
			this.#transcript.push(`• answer ${turn} to ${text.slice(0, 20).replaceAll("\n", " ")}`);
			this.#writeEvent("task_complete");
			this.#endTurn();
		}, this.#options.turn);
	}

	#endTurn(): void {
		this.#isBusy = false;
		this.#isAsking = this.#options.ask;
		this.#log({ type: "turn-end" });
		this.#report(this.#isAsking ? "waiting" : "idle");
		const next = this.#queue.shift();
		if (next !== undefined) this.#startTurn(next);
		this.#draw();
	}

	#report(word: "active" | "waiting" | "idle"): void {
		if (this.#options.hooks === undefined) return;
		this.#draw();
		spawnSync("/bin/sh", ["-c", `${this.#options.hooks} ${word}`], { input: "{}" });
	}

	#writeEvent(type: string): void {
		if (this.#rollout === undefined) return;
		const isTurnEvent = type !== "token_count";
		if (this.#options.rollout === "grow" && isTurnEvent) return;
		appendFileSync(this.#rollout, `${JSON.stringify({ type: "event_msg", payload: { type } })}\n`);
	}

	#draw(): void {
		if (!this.#isDrawing) return;
		const width = process.stdout.columns || 80;
		const height = process.stdout.rows || 24;
		const rows = drawFake(
			this.#options,
			{
				transcript: this.#transcript,
				draft: this.#draft,
				queue: this.#queue,
				isBusy: this.#isBusy,
				isAsking: this.#isAsking,
				wallAt: this.#wallAt,
				tick: Math.floor(this.#tick / 20),
			},
			width,
		).slice(-height);
		// Clearing the whole screen would push it into tmux's history with every frame.
		process.stdout.write(`${ESC}[H${rows.map((row) => `${row}${ESC}[K`).join("\r\n")}${ESC}[J`);
	}

	#log(entry: object): void {
		if (this.#options.log !== undefined) appendFileSync(this.#options.log, `${JSON.stringify(entry)}\n`);
	}
}

function nameKey(key: string): string {
	const names: Record<string, string> = {
		...{
			"\r": "Enter",
			"\t": "Tab",
			"\u0015": "C-u",
			"\u0003": "C-c",
			"\u000c": "C-l",
			"\u007f": "Backspace",
			"\u001b": "Escape",
		},
		...{ "\u001b[A": "Up", "\u001b[B": "Down", "\u001bOA": "Up", "\u001bOB": "Down" },
	};
	return names[key] ?? key;
}

/** Makes a rollout file as Codex does, in the folder for today, with the session's folder in its first line. */
function openRollout(): string {
	const folder = join(process.env.CODEX_HOME ?? ".", "sessions", "2026", "07", "28");
	mkdirSync(folder, { recursive: true });
	const path = join(folder, `rollout-2026-07-28T10-00-00-fake-${process.pid}.jsonl`);
	const meta = { type: "session_meta", payload: { id: `fake-${process.pid}`, cwd: process.cwd() } };
	appendFileSync(path, `${JSON.stringify(meta)}\n`);
	return path;
}

function pause(ms: number): Promise<void> {
	return new Promise((resolve) => setTimeout(resolve, ms));
}

await new FakeAgent(parseFakeOptions(process.argv.slice(2))).run();
