import { PaneError } from "../errors.ts";
import { type Drive, poll, rest } from "./context.ts";
import { withPaneLock } from "./lock.ts";
import { requireSession, type SessionView } from "./session.ts";
import { readTurnState, type TurnWord } from "./turn.ts";

/** What an interrupt did, and the state of the session after it. */
export interface InterruptResult {
	/** False when no turn ran; nothing was pressed then. */
	readonly isInterrupted: boolean;
	readonly state: TurnWord;
}

const ATTEMPTS = 2;

/**
 * Stops the turn of a session with the keys of its CLI and returns when no source says busy any more. Presses nothing
 * when no turn runs, because the same keys edit or exit then. Throws `PaneError` when the turn goes on.
 */
export async function interruptSession(drive: Drive, name: string): Promise<InterruptResult> {
	const view = await requireSession(drive, name);
	const { state } = await readTurnState(drive, name, 0);
	if (state !== "busy") return { isInterrupted: false, state };
	const keys = view.profile.cli?.keys.interrupt ?? ["Escape"];
	return withPaneLock(drive, view.io.id, async () => {
		for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
			await pressAll(drive, view, keys);
			const after = await poll(drive, drive.timings.interrupt, drive.timings.look, async () => {
				const now = await readTurnState(drive, name, 0);
				return now.state === "busy" ? undefined : now.state;
			});
			if (after !== undefined) return { isInterrupted: true, state: after };
		}
		throw new PaneError(
			"no_reaction",
			`session "${name}" still works after ${keys.join(" ")}; look with: agent-tmux peek ${name}`,
		);
	});
}

async function pressAll(drive: Drive, view: SessionView, keys: readonly string[]): Promise<void> {
	for (const [index, key] of keys.entries()) {
		// Two of these keys at once are read as one key with Alt.
		if (index > 0) await rest(drive, drive.timings.settle);
		await view.io.press(key);
	}
}
