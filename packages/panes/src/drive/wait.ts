import { readStamp } from "../clis/records/files.ts";
import { PaneError } from "../errors.ts";
import { type Drive, rest } from "./context.ts";
import { peekSession, readStatus, requireSession, viewSession } from "./session.ts";
import { type SendWord, type SessionSendOptions, sendToSession } from "./session-send.ts";
import { findRecord, readTurnState, type TurnWord } from "./turn.ts";

/** How a wait ended. */
export type WaitWord = "idle" | "timeout" | "dead" | "blocked";

/** How long and how strictly a wait looks. */
export interface WaitOptions {
	/** Limit in milliseconds. */
	readonly capMs: number;
	/** Trust the screen alone and one look. */
	readonly fast?: boolean | undefined;
}

/**
 * Waits until the turn of a session is over: two looks in a row must say idle. A session that waits for a person ends
 * the wait as `blocked`, because nobody would answer it while the caller waits.
 */
export async function waitForIdle(drive: Drive, name: string, options: WaitOptions): Promise<WaitWord> {
	const end = drive.clock.now() + options.capMs;
	let previous: TurnWord | undefined;
	for (;;) {
		const word = options.fast ? await readStatus(drive, name) : (await readTurnState(drive, name)).state;
		if (word === "dead") return "dead";
		const isIdle = word === "idle" || word === "idle-unconfirmed";
		if (isIdle && (options.fast || previous === "idle" || previous === "idle-unconfirmed")) return "idle";
		if (word === "blocked" && previous === "blocked") return "blocked";
		previous = word;
		const left = end - drive.clock.now();
		if (left <= 0) return "timeout";
		await rest(drive, Math.min(left, word === "busy" ? drive.timings.waitPoll * 2 : drive.timings.waitPoll));
	}
}

/** What a message and the wait for its answer gave. */
export interface SendWaitResult {
	readonly sent: SendWord;
	readonly waited: WaitWord;
	/** Last rows of the session after the wait; empty when it is gone. */
	readonly reply: string;
}

/** Sends a message, waits for the turn that it starts and returns the last rows of the screen. */
export async function sendAndWait(
	drive: Drive,
	name: string,
	message: string,
	options: WaitOptions & SessionSendOptions & { readonly lines: number },
): Promise<SendWaitResult> {
	const view = await requireSession(drive, name);
	const before = stampOf(await findRecord(drive, view));
	const sent = await sendToSession(drive, name, message, options);
	await watchStart(drive, name, before);
	const waited = await waitForIdle(drive, name, options);
	return { sent, waited, reply: await readReply(drive, name, options.lines) };
}

/** The idle state from before the message must not end the wait, so the start of the turn is looked for first. */
async function watchStart(drive: Drive, name: string, before: string): Promise<void> {
	const end = drive.clock.now() + drive.timings.activeGrace;
	while (drive.clock.now() < end) {
		const view = await viewSession(drive, name);
		if (view === undefined || view.verdict.word !== "ready") return;
		if (stampOf(await findRecord(drive, view)) !== before) return;
		await rest(drive, drive.timings.sendPoll);
	}
}

function stampOf(path: string | undefined): string {
	const stamp = path === undefined ? undefined : readStamp(path);
	return `${path} ${stamp?.size} ${stamp?.inode}`;
}

async function readReply(drive: Drive, name: string, lines: number): Promise<string> {
	try {
		return await peekSession(drive, name, lines);
	} catch (error) {
		if (error instanceof PaneError && error.code === "session_missing") return "";
		throw error;
	}
}
