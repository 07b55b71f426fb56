import { PaneError } from "../errors.ts";
import { findPane } from "../tmux/pane.ts";
import { killPane, runInPane, type SpawnedPane, type SpawnRequest, setPaneOptions } from "../tmux/session.ts";
import { callOptions, type Drive, poll } from "./context.ts";
import { openPaneIO } from "./pane-io.ts";
import { snippetOf } from "./probe.ts";

/** What a pane runs until its program is started in it. */
export const PLACEHOLDER = "exec cat";

/**
 * Starts a program in a pane that runs the placeholder, and returns when it has outlived its first moments. Throws
 * `PaneError` with what it printed when it ends within them; the pane is gone then.
 */
export async function startInPane(drive: Drive, pane: string, request: SpawnRequest): Promise<SpawnedPane> {
	try {
		const started = await runInPane(drive.tmux, pane, request, callOptions(drive));
		await poll(drive, drive.timings.start, drive.timings.look, async () =>
			(await isAlive(drive, pane)) ? undefined : "ended",
		);
		// From now on the pane ends with its program; what ended just before is seen by the last look.
		await setPaneOptions(drive.tmux, pane, { "remain-on-exit": undefined }, callOptions(drive));
		if (!(await isAlive(drive, pane))) throw await explainEnd(drive, pane, request.command);
		return started;
	} catch (error) {
		// Without the signal: also when the caller has stopped, no pane that nobody was told about stays.
		await killPane(drive.tmux, pane);
		throw error;
	}
}

async function isAlive(drive: Drive, pane: string): Promise<boolean> {
	return (await findPane(drive.tmux, pane, callOptions(drive)))?.isDead === false;
}

async function explainEnd(drive: Drive, pane: string, command: string): Promise<PaneError> {
	const isThere = (await findPane(drive.tmux, pane, callOptions(drive))) !== undefined;
	const tail = isThere ? await openPaneIO(drive, pane).tail(200) : "";
	const message = `the program ended as soon as it was started, and its pane with it. It was: ${command}`;
	// tmux writes its notice of the death into the last row, far below a short output.
	return new PaneError("died_at_start", message, { snippet: snippetOf(tail.replace(/\n{3,}/g, "\n")) });
}
