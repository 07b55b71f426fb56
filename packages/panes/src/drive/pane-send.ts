import { PaneError } from "../errors.ts";
import { classify } from "../screen/classify.ts";
import { countChips, countWrapped, squeeze } from "../screen/count.ts";
import { cleanPaste } from "../tmux/arguments.ts";
import { type Drive, rest } from "./context.ts";
import { identifyCli } from "./identify.ts";
import { planText } from "./literal.ts";
import { withPaneLock } from "./lock.ts";
import type { PaneIO } from "./pane-io.ts";
import { snippetOf } from "./probe.ts";

/** What happened to a message: Enter was sent, it stands in the composer, or nothing could be proven. */
export type PaneSendWord = "delivered" | "staged" | "unverified";

const DEPTH = 40;
const NEEDLE = 40;
const FOLDED = 200;

/**
 * Pastes a message into a live agent pane, proves the echo, submits it and watches for a change; recovers once from an
 * ignored Enter. `delivered` makes no claim that the turn started.
 */
export async function sendToPane(
	drive: Drive,
	io: PaneIO,
	message: string,
	options: { stage?: boolean | undefined; force?: boolean | undefined } = {},
): Promise<PaneSendWord> {
	const text = cleanPaste(message).replace(/\n$/, "");
	const needle = lastLine(text).slice(-NEEDLE);
	if (squeeze(needle) === "") throw new PaneError("usage", "the message has no visible character");
	return withPaneLock(drive, io.id, async () => {
		const restMs = await checkReceiver(io, text, options.force ?? false);
		const baseline = await io.tail(DEPTH);
		const pasted = await pasteAndProbe(drive, io, text, needle, baseline);
		if (options.stage) return "staged";
		await rest(drive, restMs);
		await io.press("Enter");
		const reaction = await watchReaction(drive, io, pasted, needle, drive.timings.submitLadder);
		if (reaction === "changed") return "delivered";
		if (reaction === "gone") return "unverified";
		drive.warn(`${io.id} showed no reaction to Enter; clearing and sending once more`);
		return resend(drive, io, text, needle, baseline, restMs);
	});
}

/** A wall would take the text for its answer, and some texts would not arrive as they are. */
async function checkReceiver(io: PaneIO, text: string, force: boolean): Promise<number> {
	const info = await io.info();
	const cli = await identifyCli(info);
	if (cli?.screen !== undefined && !force) {
		const { rows } = await io.frame();
		const verdict = classify(cli.screen, { rows, title: info.title });
		if (verdict.word === "blocked") {
			const message = `${io.id} waits for a person (${verdict.rule}); answer that first, for example with --key`;
			throw new PaneError("blocked", message, { snippet: snippetOf(rows.join("\n")) });
		}
	}
	return planText(cli, text, { force }).restMs;
}

async function pasteAndProbe(
	drive: Drive,
	io: PaneIO,
	text: string,
	needle: string,
	baseline: string,
): Promise<string> {
	await io.paste(text);
	const isFoldable = text.includes("\n") || text.length >= FOLDED;
	let seen = baseline;
	for (let probe = 0; probe < drive.timings.pasteProbes; probe++) {
		await rest(drive, drive.timings.pasteProbe);
		seen = await io.tail(DEPTH);
		if (countWrapped(seen, needle) > countWrapped(baseline, needle)) return seen;
		if (isFoldable && countChips(seen) > countChips(baseline)) return seen;
	}
	throw new PaneError(
		"no_echo",
		`${io.id} did not show the text, so Enter was not pressed. It may stand unsent in the composer: look before you send again.`,
		{ snippet: snippetOf(seen) },
	);
}

/** The first frame that differs ends the watch: a change proves no turn, but it disproves a dead Enter. */
async function watchReaction(
	drive: Drive,
	io: PaneIO,
	before: string,
	needle: string,
	ladder: readonly number[],
): Promise<"changed" | "unchanged" | "gone"> {
	let seen = before;
	for (const ms of ladder) {
		await rest(drive, ms);
		seen = await io.tail(DEPTH);
		if (squeeze(seen) !== squeeze(before)) return "changed";
	}
	return countWrapped(seen, needle) > 0 || countChips(seen) > 0 ? "unchanged" : "gone";
}

/** Only a frame that equals the one from before the paste proves that nothing of it is left to be doubled. */
async function resend(
	drive: Drive,
	io: PaneIO,
	text: string,
	needle: string,
	baseline: string,
	restMs: number,
): Promise<PaneSendWord> {
	for (let press = 0; press < drive.timings.clearPresses; press++) {
		await io.press("C-u");
		await rest(drive, drive.timings.settle);
		if (squeeze(await io.tail(DEPTH)) !== squeeze(baseline)) continue;
		const pasted = await pasteAndProbe(drive, io, text, needle, baseline);
		await rest(drive, restMs);
		await io.press("Enter");
		const reaction = await watchReaction(drive, io, pasted, needle, drive.timings.retryLadder);
		return reaction === "changed" ? "delivered" : "unverified";
	}
	return "unverified";
}

function lastLine(text: string): string {
	return text.split("\n").findLast((line) => squeeze(line) !== "") ?? "";
}
