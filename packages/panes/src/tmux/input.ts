import { randomBytes } from "node:crypto";
import { PaneError, PaneMissing, TmuxError } from "../errors.ts";
import { escapeLiteral, splitLiteral } from "./arguments.ts";
import { readPane } from "./pane.ts";
import type { CallOptions, Tmux } from "./server.ts";

/** How input treats a pane that a person has put into a tmux mode such as copy-mode. */
export interface InputOptions extends CallOptions {
	/** Refuse instead of leaving the mode. */
	readonly respectMode?: boolean | undefined;
}

const ALIVE = "#{pane_id} #{pane_dead}";

/** Types text literally into a pane; throws `PaneMissing` when the pane is gone or dead. */
export async function typeLiteral(tmux: Tmux, id: string, text: string, options: InputOptions = {}): Promise<void> {
	for (const piece of splitLiteral(text)) {
		await sendGuarded(tmux, id, ["send-keys", "-t", id, "-l", "--", escapeLiteral(piece)], options);
	}
}

/** Presses named keys (`Enter`, `C-u`, `Tab`) in order; throws `PaneMissing` when the pane is gone or dead. */
export async function pressKeys(
	tmux: Tmux,
	id: string,
	keys: readonly string[],
	options: InputOptions = {},
): Promise<void> {
	await sendGuarded(tmux, id, ["send-keys", "-t", id, "--", ...keys.map(escapeLiteral)], options);
}

/** Pastes text with bracketed paste where the program asked for it; never touches a dead pane. */
export async function pasteText(tmux: Tmux, id: string, text: string, options: InputOptions = {}): Promise<void> {
	checkId(id);
	const buffer = `agent-tmux-${process.pid}-${randomBytes(4).toString("hex")}`;
	await tmux.run(["load-buffer", "-b", buffer, "-"], { ...options, input: text });
	// tmux 3.3a crashes with every session when it pastes into a dead pane; the check must be in the same command.
	const guarded = [
		...["if-shell", "-F", "-t", id, "#{pane_dead}"],
		...[`delete-buffer -b ${buffer}`, `paste-buffer -d -p -b ${buffer} -t ${id}`],
	];
	try {
		await sendGuarded(tmux, id, guarded, options);
	} catch (error) {
		await tmux.ask(["delete-buffer", "-b", buffer]);
		throw error;
	}
}

async function sendGuarded(tmux: Tmux, id: string, command: string[], options: InputOptions): Promise<void> {
	checkId(id);
	if (options.respectMode) await refuseMode(tmux, id, options);
	const state = ["display-message", "-p", "-t", id, ALIVE, ";"];
	const reply = await tmux.ask([...leaveMode(id), ...state, ...command], options);
	if (isAlive(id, reply.stdout) && reply.code === 0) return;
	await readPane(tmux, id, options);
	throw new TmuxError(`tmux refused the input for ${id}: ${reply.stderr.trim() || "no reason given"}`);
}

async function refuseMode(tmux: Tmux, id: string, options: CallOptions): Promise<void> {
	const pane = await readPane(tmux, id, options);
	if (pane.isInMode)
		throw new PaneError("refused", `${id} is in a tmux mode (someone scrolls there); nothing was sent`);
}

/** In a mode the keys would go to the mode and be lost, so it is left in the same tmux call that sends. */
function leaveMode(id: string): string[] {
	return ["if-shell", "-F", "-t", id, "#{pane_in_mode}", `send-keys -X -t ${id} cancel`, ";"];
}

function isAlive(id: string, answer: string): boolean {
	const [pane, dead] = answer.trim().split(" ");
	return pane === id && dead === "0";
}

function checkId(id: string): void {
	if (!/^%\d+$/.test(id)) throw new PaneMissing(id, "not a pane id");
}
