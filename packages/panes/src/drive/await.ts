import { existsSync } from "node:fs";
import { PaneError } from "../errors.ts";
import { type AgentWord, readAgentState } from "./agent-state.ts";
import { type Drive, rest } from "./context.ts";
import type { PaneIO } from "./pane-io.ts";
import { isNarrow, probeReadiness, snippetOf } from "./probe.ts";

/** Why an await ended: a state, the file, a screen pattern, the time, or the pane. */
export type AwaitWord = AgentWord | "file" | "screen" | "running" | "gone";

/** What to wait for. */
export interface AwaitRequest {
	readonly until: readonly AgentWord[];
	/** Path whose appearance ends the wait, whatever the pane does. */
	readonly file?: string | undefined;
	/** Pattern that ends the wait when it matches text that was not on the screen before. */
	readonly screen?: RegExp | undefined;
	/** Count a state only after the agent was seen active. */
	readonly afterActive?: boolean | undefined;
	/** Limit in milliseconds; 0 waits for ever. */
	readonly timeoutMs: number;
}

/** The word and the pane that it is about. */
export interface AwaitResult {
	readonly word: AwaitWord;
	readonly pane: string;
	readonly elapsedMs: number;
}

/** One look at one pane. */
interface Look {
	readonly isGone: boolean;
	readonly state: AgentWord | undefined;
	readonly screen: string | undefined;
}

/**
 * Waits until the first of several panes fires. A fired file outranks states, states a dead pane, a dead pane the time.
 * Throws `PaneError` when a pane shows no state and there is neither a file nor a pattern to wait for.
 */
export async function awaitPanes(drive: Drive, panes: readonly PaneIO[], request: AwaitRequest): Promise<AwaitResult> {
	const start = drive.clock.now();
	const wasActive = new Set<string>();
	const armed = new Map<string, string>();
	for (;;) {
		const elapsedMs = drive.clock.now() - start;
		const looks = await Promise.all(panes.map((pane) => lookAt(drive, pane, request.screen !== undefined)));
		if (request.file !== undefined && existsSync(request.file)) {
			return { word: "file", pane: panes[0]?.id ?? "", elapsedMs };
		}
		for (const [index, look] of looks.entries()) {
			const pane = panes[index];
			if (pane === undefined) continue;
			if (look.state === "active") wasActive.add(pane.id);
			const counts = !request.afterActive || wasActive.has(pane.id);
			if (look.state !== undefined && counts && request.until.includes(look.state)) {
				return { word: look.state, pane: pane.id, elapsedMs };
			}
			if (hasNewMatch(request.screen, look.screen, armed, pane.id)) return { word: "screen", pane: pane.id, elapsedMs };
			if (look.isGone) return { word: "gone", pane: pane.id, elapsedMs };
			if (look.state === undefined && request.file === undefined && request.screen === undefined) {
				throw new PaneError(
					"unobservable",
					`${pane.id} reports no agent state, so there is nothing to wait for. ` +
						`Install the hooks (agent-tmux hooks install), or give --file or --screen.`,
				);
			}
		}
		if (request.timeoutMs > 0 && elapsedMs >= request.timeoutMs) {
			return { word: "running", pane: panes[0]?.id ?? "", elapsedMs };
		}
		const left = request.timeoutMs > 0 ? request.timeoutMs - elapsedMs : Number.POSITIVE_INFINITY;
		await rest(drive, Math.min(drive.timings.awaitPoll, left));
	}
}

async function lookAt(drive: Drive, pane: PaneIO, wantsScreen: boolean): Promise<Look> {
	try {
		const info = await pane.info();
		const state = (await readAgentState(drive, info))?.word;
		return { isGone: false, state, screen: wantsScreen ? await pane.tail(200) : undefined };
	} catch (error) {
		if (error instanceof PaneError && error.code === "pane_missing") {
			return { isGone: true, state: undefined, screen: undefined };
		}
		throw error;
	}
}

function hasNewMatch(
	pattern: RegExp | undefined,
	screen: string | undefined,
	armed: Map<string, string>,
	pane: string,
): boolean {
	if (pattern === undefined || screen === undefined) return false;
	const count = screen.match(new RegExp(pattern.source, "gmu"))?.length ?? 0;
	const before = armed.get(pane);
	if (before === undefined) armed.set(pane, String(count));
	return before !== undefined && count > Number(before);
}

/** Watches for the state `active` after a message, so that the idle state from before cannot end the wait. */
export async function watchActive(drive: Drive, pane: PaneIO): Promise<void> {
	const end = drive.clock.now() + drive.timings.activeGrace;
	while (drive.clock.now() < end) {
		const look = await lookAt(drive, pane, false);
		if (look.isGone || look.state === undefined || look.state === "active") return;
		await rest(drive, Math.min(drive.timings.awaitPoll, 100));
	}
}

/** How a wait for readiness ended, with its evidence. */
export interface ReadyResult {
	readonly word: "ready" | "parked" | "narrow" | "running" | "gone";
	readonly detail: string;
	readonly snippet: string;
}

/** Waits until a pane takes input, stands at a wall, or is too small to tell. */
export async function awaitReady(drive: Drive, io: PaneIO, timeoutMs: number): Promise<ReadyResult> {
	const start = drive.clock.now();
	for (;;) {
		try {
			const info = await io.info();
			if ((await readAgentState(drive, info)) !== undefined) return { word: "ready", detail: "state", snippet: "" };
			const first = await io.tail(50);
			await rest(drive, drive.timings.readyPoll);
			const second = await io.tail(50);
			if (second.trim() !== "" && first === second) {
				if (isNarrow(info))
					return { word: "narrow", detail: `${info.width}x${info.height}`, snippet: snippetOf(second) };
				const readiness = await probeReadiness(drive, io);
				if (readiness.word === "ready") return { word: "ready", detail: "echo", snippet: "" };
				if (readiness.word === "parked")
					return { word: "parked", detail: readiness.reason, snippet: readiness.snippet };
			}
		} catch (error) {
			if (error instanceof PaneError && error.code === "pane_missing") return { word: "gone", detail: "", snippet: "" };
			throw error;
		}
		if (timeoutMs > 0 && drive.clock.now() - start >= timeoutMs) return { word: "running", detail: "", snippet: "" };
	}
}
