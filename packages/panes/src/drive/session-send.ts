import { PaneError, PaneMissing } from "../errors.ts";
import { classify, type Verdict } from "../screen/classify.ts";
import { countChips, countOccurrences } from "../screen/count.ts";
import { stripStyle } from "../screen/style.ts";
import type { PaneInfo } from "../tmux/pane.ts";
import { type Drive, poll, rest } from "./context.ts";
import { identifyCli } from "./identify.ts";
import { planText, type TextPlan } from "./literal.ts";
import { withPaneLock } from "./lock.ts";
import type { PaneIO } from "./pane-io.ts";
import type { Profile } from "./profile.ts";
import { requireSession, type SessionView, viewPane } from "./session.ts";

/** What a send proved: the agent took the text for this turn, or put it in its queue. */
export type SendWord = "submitted" | "queued";

/** How a message is sent to a session. */
export interface SessionSendOptions {
	/** Empty a composer that holds text first. */
	readonly clear?: boolean | undefined;
	/** Send a text that the CLI is known to change, and send on a screen that is not understood. */
	readonly force?: boolean | undefined;
}

const QUEUE_DEPTH = 100;
const CLEAR_PRESSES = 40;

/** Sends a message to a session and returns what was proven; throws `PaneError` when nothing was. */
export async function sendToSession(
	drive: Drive,
	name: string,
	message: string,
	options: SessionSendOptions = {},
): Promise<SendWord> {
	const view = await requireSession(drive, name);
	return withPaneLock(drive, view.io.id, () => sendLocked(drive, view, message, options));
}

/** Sends a message to any pane as `sendToSession` does, by the rules of the agent CLI that runs in it. */
export async function sendByLadder(
	drive: Drive,
	info: PaneInfo,
	message: string,
	options: SessionSendOptions = {},
): Promise<SendWord> {
	const view = await viewPane(drive, info.id, info.id, (await identifyCli(info))?.name);
	if (view === undefined) throw new PaneMissing(info.id);
	return withPaneLock(drive, info.id, () => sendLocked(drive, view, message, options));
}

async function sendLocked(
	drive: Drive,
	view: SessionView,
	message: string,
	options: SessionSendOptions,
): Promise<SendWord> {
	const { name } = view;
	const { io, profile } = view;
	const plan = planText(profile.cli, message, options);
	refuseUnfit(name, (await lookForComposer(drive, io, profile)).verdict, profile, options);
	await emptyComposer(drive, io, profile, name, options);
	const reader = makeReader(io, profile);
	const before = await lookForComposer(drive, io, profile);
	const start = { name, before, queuedBefore: await reader.countQueued() };
	const isPasted = plan.how === "pasted";
	await insertPlan(drive, io, reader, profile, plan, start, plan.restMs);
	const word = await submit(drive, reader, io, profile, start, firstRounds(drive, before, isPasted));
	if (word !== undefined) return word;
	if (isPasted && (await emptyAgain(drive, io, profile))) {
		drive.warn(`session "${name}" took no key after the paste; pasting once more`);
		await insertPlan(drive, io, reader, profile, plan, start, plan.restMs * 4);
		const second = await submit(drive, reader, io, profile, start, drive.timings.sendRounds);
		if (second !== undefined) return second;
	}
	throw new PaneError(
		"not_confirmed",
		`NOT CONFIRMED: nothing shows that session "${name}" took the text; it may still stand in the composer. ` +
			`Look with: agent-tmux peek ${name}. Do not send it again before you have looked.`,
		{ snippet: (await reader.look()).rows.slice(-12).join("\n").trimEnd() },
	);
}

/** How often a key may be pressed before something else is tried. */
function firstRounds(drive: Drive, before: Look, isPasted: boolean): number {
	// Where no composer can be seen nothing could ever be proven, and every further Enter would be a blind one.
	if (before.signature === undefined) return 1;
	// Some composers take no key after a paste that came too fast; clearing and pasting once more helps them.
	return isPasted ? Math.ceil(drive.timings.sendRounds / 3) : drive.timings.sendRounds;
}

/** What was on the screen before the text. */
interface SendStart {
	readonly name: string;
	readonly before: Look;
	readonly queuedBefore: number;
}

async function insertPlan(
	drive: Drive,
	io: PaneIO,
	reader: Reader,
	profile: Profile,
	plan: TextPlan,
	start: SendStart,
	restMs: number,
): Promise<void> {
	if (plan.how === "typed") await io.type(plan.text);
	else await io.paste(plan.text);
	await waitForEcho(drive, reader, start.before, start.name);
	if (plan.how !== "pasted") return;
	await rest(drive, restMs);
	const key = profile.cli?.afterChip;
	const draft = (await reader.look()).verdict.composer?.lines.join("\n") ?? "";
	if (key !== undefined && countChips(draft) === 1 && /^\s*\[[^\]]*\]\s*$/.test(draft)) await io.press(key);
}

/** Whether the composer could be emptied of the text that nothing submitted; a question is never typed into. */
async function emptyAgain(drive: Drive, io: PaneIO, profile: Profile): Promise<boolean> {
	for (let press = 0; press < CLEAR_PRESSES; press++) {
		const { verdict } = await lookAt(io, profile);
		if (verdict.word === "blocked" || verdict.composer === undefined) return false;
		if (verdict.composer.isEmpty) return press > 0;
		await io.press("C-u");
		await rest(drive, drive.timings.look);
	}
	return false;
}

/** What the sender sees of a session at one moment. */
interface Look {
	readonly verdict: Verdict;
	/** Text of the composer's rows as they stand there, placeholder included; undefined when none is drawn. */
	readonly signature: string | undefined;
	readonly rows: readonly string[];
	readonly isDead: boolean;
}

function makeReader(io: PaneIO, profile: Profile) {
	return {
		look: () => lookAt(io, profile),
		countQueued: async () => countQueued(await io.tail(QUEUE_DEPTH), profile),
	};
}

type Reader = ReturnType<typeof makeReader>;

async function lookAt(io: PaneIO, profile: Profile): Promise<Look> {
	const { info, rows } = await io.frame({ styled: true });
	const plain = rows.map(stripStyle);
	const capture = { rows, isStyled: true, title: info.title, isDead: info.isDead, cursor: info.cursor };
	const verdict = classify(profile.rules, capture);
	const { composer } = verdict;
	const last = plain.findLast((row) => /^\s*[›❯>]/.test(row));
	const signature = composer === undefined ? last : plain.slice(composer.start, composer.end + 1).join("\n");
	return { verdict, signature, rows: plain, isDead: info.isDead };
}

/** Some programs clear their screen before they draw it anew, so a missing composer is looked for again. */
async function lookForComposer(drive: Drive, io: PaneIO, profile: Profile): Promise<Look> {
	let look = await lookAt(io, profile);
	await poll(drive, drive.timings.echo, drive.timings.look, async () => {
		if (!lacksComposer(look.verdict, profile)) return true;
		look = await lookAt(io, profile);
		return undefined;
	});
	return look;
}

/** Whether a CLI whose composer is known shows none, although nothing else explains that. */
function lacksComposer(verdict: Verdict, profile: Profile): boolean {
	if (profile.cli?.screen === undefined || verdict.composer !== undefined) return false;
	return verdict.word !== "busy" && verdict.word !== "blocked" && verdict.word !== "dead" && !isPatternVerdict(verdict);
}

function refuseUnfit(name: string, verdict: Verdict, profile: Profile, options: SessionSendOptions): void {
	if (options.force) return;
	if (verdict.word === "blocked") {
		throw new PaneError("blocked", `session "${name}" waits for a person (${verdict.rule}); answer that first`);
	}
	if (lacksComposer(verdict, profile)) {
		throw new PaneError(
			"not_ready",
			`session "${name}" shows no composer (${verdict.rule}); look with: agent-tmux peek ${name}`,
		);
	}
}

function isPatternVerdict(verdict: Verdict): boolean {
	return verdict.rule === "pattern" || verdict.rule === "no-pattern";
}

async function emptyComposer(
	drive: Drive,
	io: PaneIO,
	profile: Profile,
	name: string,
	options: SessionSendOptions,
): Promise<void> {
	for (let press = 0; press < CLEAR_PRESSES; press++) {
		const { verdict } = await lookAt(io, profile);
		if (verdict.composer === undefined || verdict.composer.isEmpty) return;
		if (!options.clear) {
			throw new PaneError(
				"refused",
				`the composer of session "${name}" is not empty; send with --clear to drop what stands there`,
				{ snippet: verdict.composer.lines.join("\n") },
			);
		}
		await io.press("C-u");
		await rest(drive, drive.timings.look);
	}
	throw new PaneError("refused", `the composer of session "${name}" could not be emptied`);
}

async function waitForEcho(drive: Drive, reader: Reader, before: Look, name: string): Promise<void> {
	const echoed = await poll(drive, drive.timings.pasteEcho, drive.timings.look, async () => {
		const look = await reader.look();
		if (look.isDead) throw new PaneError("gone", `session "${name}" ended while the text was given to it`);
		const { composer } = look.verdict;
		if (composer !== undefined && before.verdict.composer !== undefined) return !composer.isEmpty || undefined;
		return look.signature !== before.signature || look.rows.join("\n") !== before.rows.join("\n") || undefined;
	});
	if (echoed) return;
	throw new PaneError(
		"no_echo",
		`session "${name}" did not show the text, so no key was pressed; look before you send again`,
	);
}

async function submit(
	drive: Drive,
	reader: Reader,
	io: PaneIO,
	profile: Profile,
	start: SendStart,
	rounds: number,
): Promise<SendWord | undefined> {
	let isPressedWhileIdle = false;
	for (let round = 0; round < rounds; round++) {
		const look = await reader.look();
		const early = await judge(reader, look, start);
		if (early !== undefined) return early;
		// A dialog that an idle agent shows after the key is its answer to the text. Any other question that came up
		// meanwhile would take the key for its answer.
		if (look.verdict.word === "blocked") return isPressedWhileIdle ? "submitted" : undefined;
		isPressedWhileIdle = look.verdict.word === "ready";
		await io.press(chooseKey(look, profile));
		const word = await poll(drive, drive.timings.sendRound, drive.timings.sendPoll, async () =>
			judge(reader, await reader.look(), start),
		);
		if (word !== undefined) return word;
	}
	return undefined;
}

/** Only two things are proof: more queued messages than before, or a composer that is empty again. */
async function judge(reader: Reader, look: Look, start: SendStart): Promise<SendWord | undefined> {
	if (look.isDead) throw new PaneError("gone", `session "${start.name}" ended while the text was submitted`);
	if ((await reader.countQueued()) > start.queuedBefore) return "queued";
	const { composer } = look.verdict;
	if (composer !== undefined) return composer.isEmpty ? "submitted" : undefined;
	if (start.before.verdict.composer !== undefined) return undefined;
	return look.signature !== undefined && look.signature === start.before.signature ? "submitted" : undefined;
}

/** While a turn runs some CLIs queue with another key than Enter; the screen is read anew before every press. */
function chooseKey(look: Look, profile: Profile): string {
	const offersTab = look.rows.some((row) => /^\s*tab to queue message\b/.test(row));
	if (offersTab) return "Tab";
	return look.verdict.word === "busy" ? (profile.cli?.keys.queue ?? "Enter") : "Enter";
}

function countQueued(tail: string, profile: Profile): number {
	const pattern = profile.cli?.queued;
	if (pattern === undefined) return countOccurrences(tail, "↳");
	return tail.split("\n").filter((row) => pattern.test(row)).length;
}
