import { PaneError } from "../errors.ts";
import { countChips, countWrapped } from "../screen/count.ts";
import { type Drive, poll, rest } from "./context.ts";
import { insertText } from "./insert.ts";
import type { PaneIO } from "./pane-io.ts";
import { probeReadiness, snippetOf } from "./probe.ts";

const DEPTH = 50;
const ATTEMPTS = 2;

/** How one attempt ended; `isConsumed` means that Enter was sent and the text has left the composer. */
interface Attempt {
	readonly failure?: { code: "not_ready" | "no_echo" | "no_reaction"; message: string; snippet: string };
	readonly isConsumed?: boolean;
}

/**
 * Hands a one-line prompt to an agent with full verification: ready, echo, Enter, reaction; one retry with a warning.
 * Throws `PaneError` with the last rows of the screen when it cannot be proven; no half prompt is left behind.
 */
export async function deliverText(drive: Drive, io: PaneIO, text: string): Promise<void> {
	for (let attempt = 1; ; attempt++) {
		const { failure, isConsumed } = await attemptDelivery(drive, io, text);
		if (failure === undefined) return;
		if (attempt === ATTEMPTS || isConsumed)
			throw new PaneError(failure.code, failure.message, { snippet: failure.snippet });
		drive.warn(`${failure.message}; trying once more`);
	}
}

async function attemptDelivery(drive: Drive, io: PaneIO, text: string): Promise<Attempt> {
	const readiness = await probeReadiness(drive, io);
	if (readiness.word !== "ready") {
		const message = `${io.id} is ${readiness.word} (${readiness.reason}); nothing was typed`;
		return { failure: { code: "not_ready", message, snippet: readiness.snippet } };
	}
	await io.press("C-u");
	await rest(drive, drive.timings.settle);
	const baseline = await io.tail(DEPTH);
	await insertText(io, text);
	let typed = baseline;
	const echoed = await poll(drive, drive.timings.echo, drive.timings.look, async () => {
		typed = await io.tail(DEPTH);
		const isThere =
			countWrapped(typed, text) > countWrapped(baseline, text) || countChips(typed) > countChips(baseline);
		return isThere || undefined;
	});
	if (!echoed) {
		await io.press("C-u");
		const message = `${io.id} did not echo the text, so Enter was not pressed`;
		return { failure: { code: "no_echo", message, snippet: snippetOf(typed) } };
	}
	await io.press("Enter");
	let after = typed;
	const reacted = await poll(drive, drive.timings.reaction, drive.timings.look, async () => {
		after = await io.tail(DEPTH);
		return after !== typed || undefined;
	});
	if (reacted) return {};
	await io.press("C-u");
	await rest(drive, drive.timings.settle);
	const cleared = await io.tail(DEPTH);
	const isConsumed = countWrapped(cleared, text) >= countWrapped(typed, text);
	const message = `${io.id} showed no reaction to Enter${isConsumed ? "" : "; the text was taken back"}`;
	return { failure: { code: "no_reaction", message, snippet: snippetOf(after) }, isConsumed };
}
